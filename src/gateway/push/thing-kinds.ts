import { DECIDING } from '../../../protocol/methods/accounts/permissions.ts';
import { LENDING, type NodePairing } from '../../../protocol/methods/node.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import type { Clock } from '../../clock.ts';
import { readSender } from '../channels/inbox/sender-rows.ts';
import { findPending } from '../mcp/oauth/consent-rows.ts';
import { type FoundQuarantined, readQuarantined, readQuarantinedById } from '../memories/quarantine-rows.ts';
import type { PairingRequests } from '../nodes/pairing-requests.ts';
import { holds, mayReceive } from '../rights.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { SenderTable } from '../store/schema/channels/channel-schema.ts';
import type { PendingConsentTable } from '../store/schema/consents/consent-schema.ts';
import type { Store } from '../store/store.ts';
import { cutText, type Matter } from './matter.ts';

/** Something besides a question that waits for a person: a machine, a person, an account or a memory. */
export interface Thing extends Omit<Matter, 'id' | 'wsId' | 'named'> {
  readonly kind: 'machine' | 'person' | 'account' | 'memory';
  /** As the page names its entry of the inbox (src/page/state/inbox/waiting-things.ts). */
  readonly entry: string;
  /** Whose it is, where the entry alone does not say so. */
  readonly whose?: string;
  readonly sinceMs: number;
}

export interface ThingSources {
  store: Pick<Store, 'db'>;
  requests: Pick<PairingRequests, 'list'>;
  /** The tool servers that are used with accounts. */
  servers(): readonly { server: string }[];
  clock: Pick<Clock, 'now'>;
}

/** The newest of each kind that wait now, as many as `most`. */
export async function listThings(sources: ThingSources, most: number): Promise<Thing[]> {
  const { store, requests, servers, clock } = sources;
  const nowMs = clock.now();
  const [people, accounts, memories] = await Promise.all([
    store.db
      .selectFrom('channel_senders')
      .selectAll()
      .where('status', '=', 'pending')
      .where('code_expires_ms', '>', nowMs)
      .orderBy('updated_ms', 'desc')
      .limit(most)
      .execute(),
    store.db.selectFrom('mcp_pending_consents').selectAll().orderBy('created_ms', 'desc').limit(most).execute(),
    readQuarantined({ viewer: DAEMON, administers: true }, most).execute(store.db),
  ]);
  const used = new Set(servers().map(({ server }) => server));
  return [
    ...requests
      .list()
      .slice(0, most)
      .map((request) => toMachine(request, sources)),
    ...people.map((row) => toPerson(row, sources)),
    ...accounts.filter(({ server }) => used.has(server)).map((row) => toAccount(row, sources)),
    ...memories.rows.map((row) => toMemory(row, sources)),
  ];
}

/** What somebody has to know before deciding is on the page: a notification never says enough. */
const says =
  (title: string, text: string): Matter['notice'] =>
  (content) => ({ title, isWhole: false, ...(content === 'full' && { body: cutText(text) }) });

function toMachine({ requestId, nodeId, displayName, ts }: NodePairing, { requests }: ThingSources): Thing {
  const name = displayName?.trim() || nodeId;
  return {
    kind: 'machine',
    entry: `machine ${nodeId}`,
    sinceMs: ts,
    expiresAtMs: undefined, // its clock is another one than that of the daemon
    notice: says('A machine asks to be paired', toVisibleLine(name)),
    waits: async () => requests.list().some((one) => one.requestId === requestId),
    isFor: async (standing) => mayReceive(standing, { scope: 'approve', permission: LENDING }),
    isForOperator: async () => true,
  };
}

function toPerson(row: SenderTable, { store, clock }: ThingSources): Thing {
  const { channel, sender_id: senderId, name, updated_ms, code_expires_ms } = row;
  return {
    kind: 'person',
    entry: `person ${channel} ${senderId}`,
    sinceMs: Number(updated_ms),
    expiresAtMs: Number(code_expires_ms),
    notice: says('Somebody asks to write from a chat', `${toVisibleLine(name)} (${toVisibleLine(channel)})`),
    async waits() {
      const now = await readSender(store, { channel, senderId });
      return now?.status === 'pending' && Number(now.code_expires_ms) > clock.now();
    },
    isFor: async (standing) => mayReceive(standing, { scope: 'approve', permission: 'admin.users' }),
    isForOperator: async () => true,
  };
}

function toAccount(row: PendingConsentTable, { store, servers }: ThingSources): Thing {
  const { user_id: user, server, created_ms } = row;
  return {
    kind: 'account',
    entry: `account ${server}`,
    whose: user,
    sinceMs: Number(created_ms),
    expiresAtMs: undefined,
    notice: says('A call needed an account of yours', toVisibleLine(server)),
    waits: async () =>
      servers().some((one) => one.server === server) && (await findPending(store, user, server)) !== undefined,
    // Nobody can connect an account for another person.
    isFor: async ({ userId = '', scopes }) => userId === user && holds(scopes, 'write'),
    isForOperator: async () => user === '',
  };
}

/** What the operator sees of memories without any right to those of users. */
const OPERATOR: Viewer = { userId: '', permissions: new Set() };

function toMemory(row: FoundQuarantined, { store }: ThingSources): Thing {
  const { memory_id: memoryId, name, content, created_ms } = row;
  const isSeen = async (viewer: Viewer, administers: boolean) =>
    (await readQuarantinedById(memoryId, { viewer, administers }).execute(store.db)).rows.length > 0;
  return {
    kind: 'memory',
    entry: `memory ${memoryId}`,
    sinceMs: Number(created_ms),
    expiresAtMs: undefined,
    notice: says('A memory waits for you', `${toVisibleLine(name)}\n${toVisibleText(content)}`),
    waits: () => isSeen(DAEMON, true),
    isFor: async (standing) =>
      mayReceive(standing, { scope: 'approve', permission: [...DECIDING, 'admin.memories'] }) &&
      (await isSeen(standing, standing.permissions.has('admin.memories'))),
    isForOperator: () => isSeen(OPERATOR, false),
  };
}
