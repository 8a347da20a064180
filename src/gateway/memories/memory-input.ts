import { GatewayError } from '../../../protocol/errors.ts';
import { MemoryScope, MemoryType } from '../../../protocol/methods/memory.ts';
import { isPlainName, PLAIN_NAME_RULE } from '../../../protocol/text/plain-text.ts';

/** Where a name is unique. */
export interface MemoryPlace {
  scope: MemoryScope;
  /** Empty for the scope `global`. */
  scopeId: string;
}

const MOST_NAME = 256;
const MOST_CONTENT = 65_536;
const DEFAULT_TYPE: MemoryType = 'project';

const refused = (problem: string) => new GatewayError('INVALID_REQUEST', problem);

/** Throws with the words that clients of the specification expect, as the other checks here. */
export function checkMemoryName(given: string): string {
  const name = given.trim().toLowerCase().replaceAll(/[- ]/g, '_');
  if (name === '' || lengthOf(name) > MOST_NAME) throw refused(`name is required (max ${MOST_NAME} characters)`);
  if (!isPlainName(name)) throw refused(`name ${PLAIN_NAME_RULE}`);
  if (/^\.{1,2}$/.test(name)) throw refused('name must not be . or .., which addresses cannot contain');
  return name;
}

export function checkContent(content: string): string {
  if (content === '') throw refused('content is required');
  if (lengthOf(content) > MOST_CONTENT) throw refused(`content exceeds ${MOST_CONTENT} character limit`);
  return content;
}

export function checkQuery(query: string): string {
  if (query.trim() === '') throw refused('query is required');
  return query;
}

export function checkType(given: string): MemoryType {
  const { data } = MemoryType.safeParse(given);
  if (data === undefined) throw refused(`invalid type; use one of: ${MemoryType.options.join(', ')}`);
  return data;
}

/** The type of a saved memory. Without one, or with the default one, a replaced memory keeps its type. */
export const typeToSave = (given: string | undefined): { type: MemoryType; isDefault: boolean } => {
  const type = checkType(given ?? DEFAULT_TYPE);
  return { type, isDefault: type === DEFAULT_TYPE };
};

export function checkScope(given: string): MemoryScope {
  const { data } = MemoryScope.safeParse(given);
  if (data === undefined) throw refused(`invalid scope; use one of: ${MemoryScope.options.join(', ')}`);
  return data;
}

interface GivenPlace {
  scope?: string | undefined;
  scopeId?: string | undefined;
}

/** The place that a caller names, if it may go there; undefined if it names none. `userId`: the user that the caller acts for. */
export function findPlace({ scope: given, scopeId }: GivenPlace, userId: string | undefined): MemoryPlace | undefined {
  if (given === undefined) {
    if (scopeId !== undefined) throw refused('scope is required when scope_id is provided');
    return undefined;
  }
  const scope = checkScope(given);
  if (scope === 'global') {
    if (scopeId !== undefined) throw refused('scope_id is not allowed with global scope');
    return { scope, scopeId: '' };
  }
  if (scope === 'user') return { scope, scopeId: ownId(scopeId, userId) };
  if (scopeId === undefined) throw refused('scope_id is required for workstream scope');
  return { scope, scopeId };
}

/** Like `findPlace`; by default the place that everyone shares. */
export const getPlace = (given: GivenPlace, userId: string | undefined): MemoryPlace =>
  findPlace(given, userId) ?? { scope: 'global', scopeId: '' };

/** Nobody names another user's place. A caller that acts for no user has none. */
function ownId(scopeId: string | undefined, userId: string | undefined): string {
  if (userId === undefined) {
    throw refused(
      scopeId === undefined
        ? 'scope_id is required for user scope; log in as a user'
        : 'user scope needs a user; log in as one, or use an API token of a user',
    );
  }
  if (scopeId === undefined || scopeId === userId) return userId;
  throw new GatewayError('FORBIDDEN', "Cannot access another user's memories");
}

/** In characters, of which some count as two in the length of a string. */
const lengthOf = (text: string): number => [...text].length;
