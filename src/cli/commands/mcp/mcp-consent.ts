import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { type Clock, keepAwake, systemClock } from '../../../clock.ts';
import { NotFoundError, StartError } from '../../../start-error.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { ask, type McpCommand, type McpFlags, printJson } from './mcp-call.ts';

const LOOK_MS = 1_000;
/** As long as a person may stay at the provider. */
const WAIT_MS = 10 * 60_000;

/** Tells the person which address to open, and waits until the account is connected. */
export async function logIn(server: string, command: McpCommand, clock: Clock = systemClock): Promise<void> {
  using _ = keepAwake();
  await ask(command, async (client) => {
    const { servers, consents } = await client.call('mcp.consent.list', {});
    const found = servers.find((one) => one.server === server);
    if (!found) throw new NotFoundError(whyNot(server, servers));
    const before = consents.find((one) => one.server === server)?.connectedAtMs;
    process.stderr.write(
      `${toSafeText(`Open this address in a browser in which you are logged in to Headgate (if you are not: headgate link):\n\n  ${found.url}\n\nWaiting for your consent. Ctrl-C stops waiting; you can consent later, too.`)}\n`,
    );
    const scopes = await connected(client, { server, before }, clock);
    if (scopes === undefined) throw new StartError(`No account was connected to ${server} within ten minutes.`);
    const rights = scopes.length === 0 ? '' : ` It has the rights ${scopes.join(', ')}.`;
    process.stderr.write(`${toSafeText(`An account is connected to ${server}.${rights}`)}\n`);
  });
}

function whyNot(server: string, servers: readonly { server: string }[]): string {
  const names = servers.map((one) => one.server).join(', ');
  return `No enabled tool server with accounts is called ${server}. ${names === '' ? 'There are none.' : `There are: ${names}.`}`;
}

/** The rights of the account that was connected since. Undefined: none was. */
async function connected(
  client: GatewayClient,
  { server, before }: { server: string; before: number | undefined },
  clock: Clock,
): Promise<string[] | undefined> {
  const { signal } = new AbortController();
  for (const startMs = clock.monotonic(); clock.monotonic() - startMs < WAIT_MS; ) {
    await clock.sleep(LOOK_MS, signal);
    const { consents } = await client.call('mcp.consent.list', {});
    const found = consents.find((one) => one.server === server);
    if (found && found.connectedAtMs !== before) return found.scopes;
  }
  return undefined;
}

/** Disconnects the caller's account. */
export async function logOut(server: string, command: McpCommand): Promise<void> {
  await ask(command, (client) => client.call('mcp.consent.remove', { server }));
  process.stderr.write('Disconnected. The token was deleted here; its provider is told to revoke it.\n');
}

/** Prints the accounts of the caller, and what calls have waited for in vain. */
export async function listAccounts(command: McpCommand<McpFlags>): Promise<void> {
  const found = await ask(command, async (client) => ({
    ...(await client.call('mcp.consent.list', {})),
    pending: (await client.call('mcp.consent.pending', {})).pending,
  }));
  if (command.flags.json) return printJson(found);
  const { servers, consents, pending } = found;
  if (servers.length === 0) {
    process.stderr.write('No tool server is used with accounts.\n');
    return;
  }
  const rows = servers.map(({ server }) => {
    const consent = consents.find((one) => one.server === server);
    return [server, consent ? 'connected' : 'no account', consent?.scopes.join(' ') ?? ''].map((text) =>
      toSafeText(text),
    );
  });
  process.stdout.write(toTextTable([['SERVER', 'ACCOUNT', 'RIGHTS'], ...rows]));
  for (const { server, scopes } of pending) {
    const rights = scopes.length === 0 ? '' : ` with the rights ${scopes.join(' ')}`;
    process.stdout.write(
      `${toSafeText(`A call needed an account of ${server}${rights}: headgate mcp login ${server}`)}\n`,
    );
  }
}

/** Disconnects the accounts of all users. */
export async function revokeAll(server: string, command: McpCommand): Promise<void> {
  const { rowsDeleted } = await ask(command, (client) => client.call('mcp.consent.revoke', { server }));
  process.stderr.write(`${rowsDeleted === 1 ? 'One account was' : `${rowsDeleted} accounts were`} disconnected.\n`);
}
