import type { GatewayError } from '../../../protocol/errors.ts';
import { wrongField } from '../../../protocol/parse.ts';

const NAME = '__proto__';

/** Also matches escapes. Most texts contain none of these, and their names are not searched. */
const MAY_HAVE_IT = /__proto__|\\u/;

/** Names of a place that are told. */
const TOLD = 8;

/** An object or a list of the value, and how it is reached. */
interface Place {
  within: object;
  name: string;
  parent: Place | undefined;
}

/**
 * The refusal of a property `__proto__` at any depth of a parsed text: code that copies properties one by one sets the
 * prototype of the copy instead, and loses the value. Without recursion: a body may be nested 500,000 levels deep.
 */
export function findPrototypeName(text: string, value: unknown, field = ''): GatewayError | undefined {
  if (!MAY_HAVE_IT.test(text) || !isObject(value)) return undefined;
  const open: Place[] = [{ within: value, name: field, parent: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Object.hasOwn(next.within, NAME)) return wrongField(pathOf(next), 'a property cannot have this name');
    for (const [name, inner] of Object.entries(next.within))
      if (isObject(inner)) open.push({ within: inner, name, parent: next });
  }
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The end of a long path is enough to find it. */
function pathOf(place: Place): string {
  const names = [NAME];
  for (let at: Place | undefined = place; at !== undefined && names.length <= TOLD; at = at.parent)
    if (at.name !== '') names.unshift(names.length === TOLD ? '…' : at.name);
  return names.join('.');
}
