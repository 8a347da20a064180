import { hash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { NodePairing, PairedNode } from '../../../protocol/methods/node.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { Principal } from '../auth/principal.ts';
import type { NodeTable } from '../store/schema/node-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isListOf, isText, type ReadStored, storedReader } from '../store/stored-value.ts';
import { NO_PERMISSIONS } from '../users/grant.ts';

/** Identifies a node's token, for people and secret scanners. */
const TOKEN_PREFIX = 'node_';

/** The approved nodes. `also`: statements to commit with a change. Only digests of their tokens are stored. */
export interface PairedNodes {
  /** Newest first. */
  list(): PairedNode[];
  find(nodeId: string): PairedNode | undefined;
  /** Throws NOT_FOUND for an unknown node. */
  get(nodeId: string): PairedNode;
  /** A signal that aborts only when the pairing is revoked; undefined for an unknown node. */
  revocationOf(nodeId: string): AbortSignal | undefined;
  /** The principal of the node whose token this is. */
  authenticate(nodeId: string, token: string): Principal | undefined;
  /** Pairs the requesting machine with a new token. `retire` ends everything open under an earlier token. */
  approve(
    request: NodePairing,
    by: string,
    also?: readonly Statement[],
  ): Promise<{ node: PairedNode & { token: string }; retire(): void }>;
  rename(nodeId: string, displayName: string, also?: readonly Statement[]): Promise<void>;
  /** Ends everything open under the old token at once. Returns the new token, which is not shown anywhere else. */
  rotate(nodeId: string, also?: readonly Statement[]): Promise<string>;
  revoke(nodeId: string, also?: readonly Statement[]): Promise<void>;
}

interface PairedNodesDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'secret'>;
}

interface Entry {
  row: NodeTable;
  principal: Principal;
  /** Aborted: the token is not valid any more, even if this could not be stored yet. */
  end: AbortController;
  /** Shared by all tokens of one pairing. */
  revocation: AbortController;
}

export async function openPairedNodes(deps: PairedNodesDeps): Promise<PairedNodes> {
  const { store } = deps;
  const rows = await store.db.selectFrom('nodes').selectAll().execute();
  const entries = new Map(rows.map((row) => [row.node_id, toEntry(row)]));
  const read = storedReader(store);
  const toNode = (row: NodeTable) => toPairedNode(row, read);

  function entryOf(nodeId: string): Entry {
    const entry = entries.get(nodeId);
    if (entry === undefined) throw new GatewayError('NOT_FOUND', 'unknown nodeId');
    return entry;
  }

  return {
    list: () => [...entries.values()].map(({ row }) => toNode(row)).sort((a, b) => b.approvedAtMs - a.approvedAtMs),
    find: (nodeId) => {
      const entry = entries.get(nodeId);
      return entry && toNode(entry.row);
    },
    get: (nodeId) => toNode(entryOf(nodeId).row),
    revocationOf: (nodeId) => entries.get(nodeId)?.revocation.signal,
    authenticate(nodeId, token) {
      const entry = entries.get(nodeId);
      if (entry === undefined || entry.end.signal.aborted) return undefined;
      return isSame(entry.row.token_hash, digestOf(token)) ? entry.principal : undefined;
    },
    ...changesOf({ entries, entryOf, read }, deps),
  };
}

interface Held {
  entries: Map<string, Entry>;
  /** Throws NOT_FOUND. */
  entryOf(nodeId: string): Entry;
  read: ReadStored;
}

/** Changes of a node are made one after another, so that it is in memory as it is stored. */
function changesOf(
  { entries, entryOf, read }: Held,
  { store, clock, ids }: PairedNodesDeps,
): Pick<PairedNodes, 'approve' | 'rename' | 'rotate' | 'revoke'> {
  const lanes = createSerialKeys();
  const update = (nodeId: string, change: Partial<NodeTable>, also: readonly Statement[]) => {
    const row = statementOf(build.updateTable('nodes').set(change).where('node_id', '=', nodeId), 1);
    return store.commit({ statements: [row, ...also], durable: true });
  };
  return {
    approve: (request, by, also = []) =>
      lanes.run(request.nodeId, async () => {
        const token = newToken(ids);
        const earlier = entries.get(request.nodeId);
        const nowMs = clock.now();
        const times = { created_ms: earlier?.row.created_ms ?? nowMs, approved_ms: nowMs };
        const row: NodeTable = {
          ...toRow(request, earlier && nameGiven(earlier.row, read)),
          ...times,
          token_hash: digestOf(token),
          approved_by: by,
        };
        await store.commit({ statements: [toUpsert(row), ...also], durable: true });
        entries.set(row.node_id, toEntry(row, earlier));
        const node = { ...toPairedNode(row, read), token };
        return { node, retire: () => earlier?.end.abort(new Error('the node was paired again')) };
      }),
    rename: (nodeId, displayName, also = []) =>
      lanes.run(nodeId, async () => {
        const { row } = entryOf(nodeId);
        await update(nodeId, { display_name: displayName }, also);
        row.display_name = displayName;
      }),
    rotate: (nodeId, also = []) =>
      lanes.run(nodeId, async () => {
        const entry = entryOf(nodeId);
        const token = newToken(ids);
        entry.end.abort(new Error('the token was rotated')); // before the write: the old token ends even if the write fails
        const changed = { ...entry.row, token_hash: digestOf(token) };
        await update(nodeId, { token_hash: changed.token_hash }, also);
        entries.set(nodeId, toEntry(changed, entry));
        return token;
      }),
    async revoke(nodeId, also = []) {
      endPairing(entryOf(nodeId)); // before the write: the pairing ends even if the write fails
      await lanes.run(nodeId, async () => {
        endPairing(entryOf(nodeId));
        const gone = statementOf(build.deleteFrom('nodes').where('node_id', '=', nodeId));
        await store.commit({ statements: [gone, ...also], durable: true });
        entries.delete(nodeId); // only now, so that a failed revocation can be repeated
      });
    },
  };
}

function endPairing({ end, revocation }: Entry): void {
  for (const over of [end, revocation]) over.abort(new Error('the pairing was revoked'));
}

/** `earlier`: the entry of the same pairing with another token. */
function toEntry(row: NodeTable, earlier?: Entry): Entry {
  const revocation = earlier?.revocation.signal.aborted === false ? earlier.revocation : new AbortController();
  const end = new AbortController();
  const principal: Principal = {
    id: `node:${row.node_id}`,
    scopes: new Set(['node', 'pairing']),
    permissions: NO_PERMISSIONS,
    source: { kind: 'node', nodeId: row.node_id },
    ended: end.signal,
  };
  return { row, principal, end, revocation };
}

/** Keeps the stored presence. */
function toUpsert(row: NodeTable): Statement {
  const { node_id: _, seen_ms: __, is_connected: ___, ...change } = row;
  const insert = build.insertInto('nodes').values(row);
  return statementOf(insert.onConflict((on) => on.column('node_id').doUpdateSet(change)));
}

type About = Omit<PairedNode, 'nodeId' | 'displayName' | 'commands' | 'createdAtMs' | 'approvedAtMs'> & {
  /** The name that the node gave itself; absent in rows of earlier versions. */
  saidName?: string | null;
};

function toRow({ nodeId, displayName, commands = [], ...request }: NodePairing, givenName: string | null | undefined) {
  const { requestId: _, silent: __, isRepair: ___, ts: ____, ...about } = request;
  return {
    node_id: nodeId,
    display_name: givenName ?? displayName ?? null,
    about_json: JSON.stringify({ ...about, saidName: displayName ?? null } satisfies About),
    commands_json: JSON.stringify([...new Set(commands)].sort()),
    seen_ms: null,
    is_connected: 0,
  };
}

/** The name that a person gave, which survives another request. */
function nameGiven(row: NodeTable, read: ReadStored): string | null | undefined {
  const saidName = readAbout(row, read)?.saidName;
  return saidName === undefined || saidName === row.display_name ? undefined : row.display_name;
}

const readAbout = ({ node_id, about_json }: NodeTable, read: ReadStored): About | undefined =>
  read(about_json, `the description of node ${node_id}`, (value): value is About => isRecord(value));

function toPairedNode(row: NodeTable, read: ReadStored): PairedNode {
  const { saidName: _, ...about }: About = readAbout(row, read) ?? {};
  return {
    nodeId: row.node_id,
    ...(row.display_name !== null && { displayName: row.display_name }),
    ...about,
    commands: read(row.commands_json, `the commands of node ${row.node_id}`, isListOf(isText)) ?? [],
    createdAtMs: row.created_ms,
    approvedAtMs: row.approved_ms,
  };
}

const newToken = (ids: Pick<Ids, 'secret'>): string => `${TOKEN_PREFIX}${ids.secret(32)}`;

/** A token has 256 random bits, so a slow hash would add nothing. */
const digestOf = (token: string): string => hash('sha256', token, 'hex');

const isSame = (expected: string, found: string): boolean => timingSafeEqual(Buffer.from(expected), Buffer.from(found));
