import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { WorkstreamRow } from '../../protocol/methods/conversation/listing.ts';
import { NotFoundError, UsageError } from '../start-error.ts';

type Client = Pick<GatewayClient, 'call'>;

/** A workstream as a person may name it. */
interface Named {
  wsId: string;
  name: string;
}

/** How many saved workstreams are searched; older ones are found by their full id or name. */
const SAVED = 500;
const SHORTEST_PREFIX = 3;

/**
 * Finds a workstream by ws_id, session key, name, or the beginning of one of them, and opens it if it was closed.
 * Undefined if none matches; throws UsageError if several do.
 */
export async function findWorkstream(client: Client, name: string): Promise<string | undefined> {
  const found = await findAnywhere(client, name);
  return found && (found.isOpen ? found.wsId : reopen(client, found.wsId));
}

/** Finds it without opening it. Throws UsageError if none matches. */
export async function locateWorkstream(client: Client, name: string): Promise<string> {
  return (await findAnywhere(client, name))?.wsId ?? (await refuse(client, name));
}

async function findAnywhere(client: Client, name: string): Promise<{ wsId: string; isOpen: boolean } | undefined> {
  const { workstreams: loaded } = await client.call('workstream.list', {});
  const open = loaded.find((row) => row.sessionKey === name || row.wsId === name);
  if (open) return { wsId: open.wsId, isOpen: true };
  const closed = await findStored(client, name);
  if (closed !== undefined) return { wsId: closed, isOpen: false };
  const { workstreams: saved } = await client.call('workstream.saved', { limit: SAVED });
  const rows = [...loaded, ...saved];
  const wsId =
    theOnly(
      rows.filter((row) => isExactly(row, name)),
      name,
    ) ?? findByPrefix(rows, name);
  return wsId === undefined ? undefined : { wsId, isOpen: loaded.some((row) => row.wsId === wsId) };
}

/** Like `findWorkstream`, but throws NotFoundError if none matches. */
export async function getWorkstream(client: Client, name: string): Promise<string> {
  return (await findWorkstream(client, name)) ?? refuse(client, name);
}

async function refuse(client: Client, name: string): Promise<never> {
  const { workstreams } = await client.call('workstream.list', {});
  const names = workstreams.map(toLabel).join(', ');
  throw new NotFoundError(
    `Unknown workstream "${name}". Open workstreams: ${names}. To create one: headgate chat --new --ws NAME`,
  );
}

/** Whether a machine has it, so that it can be asked. */
export const isRunnable = ({ waiting }: Pick<WorkstreamRow, 'waiting'>): boolean => waiting === undefined;

/** What to call a workstream: `main`, or its name. */
export const toLabel = ({ sessionKey, name }: Pick<WorkstreamRow, 'sessionKey' | 'name'>): string =>
  sessionKey === 'main' ? 'main' : name;

const isExactly = ({ wsId, name: called }: Named, name: string) => wsId === name || called === name;

/** Finds a workstream by its session key, even if it is closed. */
async function findStored(client: Client, key: string): Promise<string | undefined> {
  const { sessionId } = await client.call('chat.history', { sessionKey: key, limit: 1 });
  return sessionId;
}

function findByPrefix(rows: readonly Named[], prefix: string): string | undefined {
  if (prefix.length < SHORTEST_PREFIX) return undefined;
  const fitting = rows.filter(({ wsId, name }) => wsId.startsWith(prefix) || name.startsWith(prefix));
  return theOnly(fitting, prefix);
}

/** The one id among the matches; names may repeat, ids do not. */
function theOnly(fitting: readonly Named[], asked: string): string | undefined {
  const ids = new Set(fitting.map(({ wsId }) => wsId));
  if (ids.size > 1) {
    const names = [...ids].map((id) => `${fitting.find(({ wsId }) => wsId === id)?.name} (${id.slice(0, 8)})`);
    throw new UsageError(`"${asked}" matches ${names.join(' or ')}. Give more of it, or the id in parentheses.`);
  }
  return [...ids][0];
}

async function reopen(client: Client, wsId: string): Promise<string> {
  return (await client.call('workstream.create', { resumeWs: wsId })).wsId;
}
