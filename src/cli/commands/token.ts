import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { TOKEN_SCOPES } from '../../../protocol/contract.ts';
import type { ApiToken, TokenScope } from '../../../protocol/methods/accounts/token.ts';
import { parseDuration } from '../../duration.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { randomIds } from '../../ids.ts';
import { NotFoundError, UsageError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { toTextTable } from '../text-table.ts';

const isScope = (text: string): text is TokenScope => TOKEN_SCOPES.some((scope) => scope === text);

interface TokenCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface CreateFlags extends TargetFlags {
  scope: string;
  name?: string;
  /** Such as `30d`; undefined: the token does not expire. */
  expires?: string;
}

/** Creates an API token and prints only the token on stdout, for scripts; its description goes to stderr. */
export async function createToken(command: TokenCommand<CreateFlags>): Promise<void> {
  const { scope, expires, name = `${scope}-${randomIds.secret(2)}` } = command.flags;
  if (!isScope(scope)) throw new UsageError(`--scope must be one of ${TOKEN_SCOPES.join(', ')}, not "${scope}"`);
  const expiresInMs = expires === undefined ? undefined : parseDuration(expires);
  if (expires !== undefined && expiresInMs === undefined) {
    throw new UsageError(`--expires must be a time such as 12h, 30d or 8w, not "${expires}"`);
  }
  const { token, ...made } = await ask(command, (client) => client.call('token.create', { name, scope, expiresInMs }));
  process.stderr.write(`Token "${made.name}" (${made.scope}, ${endOf(made)}). It is shown only once:\n`);
  process.stdout.write(`${token}\n`);
}

export async function listTokens(command: TokenCommand<TargetFlags & { json?: boolean }>): Promise<void> {
  const { tokens } = await ask(command, (client) => client.call('token.list', {}));
  if (command.flags.json) process.stdout.write(`${JSON.stringify(tokens, null, 2)}\n`);
  else if (tokens.length === 0)
    process.stderr.write('No API tokens. Create one with: headgate token create --scope read\n');
  else process.stdout.write(toTable(tokens));
}

/** Revokes a token by its name or id. */
export async function revokeToken(which: string, command: TokenCommand): Promise<void> {
  await ask(command, async (client) => {
    const { tokens } = await client.call('token.list', {});
    const found = tokens.find(({ name, tokenId }) => tokenId === which || name === which);
    if (!found) throw new NotFoundError(`Unknown token "${which}". List tokens with: headgate token list`);
    await client.call('token.revoke', { tokenId: found.tokenId });
    process.stderr.write(`Token "${found.name}" is revoked, with every token, login and login link created with it.\n`);
  });
}

async function ask<T>({ flags, around, root }: TokenCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

const endOf = ({ expiresAtMs }: ApiToken) =>
  expiresAtMs === null ? 'does not expire' : `expires ${toDay(expiresAtMs)} UTC`;

function toTable(tokens: readonly ApiToken[]): string {
  const rows = [
    ['NAME', 'SCOPE', 'CREATED', 'LAST USED', 'EXPIRES', 'ID'],
    ...tokens.map(({ name, scope, createdAtMs, lastUsedAtMs, expiresAtMs, tokenId }) => [
      ...[name, scope, toDay(createdAtMs)],
      ...[lastUsedAtMs, expiresAtMs].map((ms) => (ms === null ? 'never' : toDay(ms))),
      tokenId,
    ]),
  ];
  return toTextTable(rows);
}
