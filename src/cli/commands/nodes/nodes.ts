import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { NodePairing, NodeRow } from '../../../../protocol/methods/node.ts';
import { pairingCodeOf } from '../../../../protocol/text/pairing-code.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { systemClock } from '../../../clock.ts';
import { parseDuration } from '../../../duration.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { randomIds } from '../../../ids.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { parseParams } from '../../json-params.ts';
import { toDistance } from '../../local-time.ts';
import { toTextTable } from '../../text-table.ts';

export interface NodesCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export type JsonFlags = TargetFlags & { json?: boolean };
export type InvokeFlags = TargetFlags & { timeout?: string; key?: string };

export async function listNodes(command: NodesCommand<JsonFlags>): Promise<void> {
  const { nodes } = await ask(command, (client) => client.call('node.list', { extended: true }));
  if (command.flags.json) print(nodes);
  else if (nodes.length === 0)
    tell('No nodes are paired. Run on another machine: headgate node run --gateway URL --name NAME');
  else
    process.stdout.write(
      toTextTable([
        ['NAME', 'STATE', 'PLATFORM', 'ADDRESS', 'COMMANDS', 'ID'],
        ...nodes.map((node) => toCells(node, systemClock.now())),
      ]),
    );
}

/** Lists pairing requests, with everything a person needs to decide. */
export async function listPending(command: NodesCommand<JsonFlags>): Promise<void> {
  const { pending } = await ask(command, (client) => client.call('node.pair.list', {}));
  if (command.flags.json) print(pending);
  else if (pending.length === 0) tell('No pairing requests.');
  else process.stdout.write(pending.map(toCard).join('\n'));
}

/** Approves a pairing request by the code that the node shows. */
export async function approveNode(which: string, command: NodesCommand): Promise<void> {
  await ask(command, async (client) => {
    const request = await findPending(client, which);
    process.stdout.write(toCard(request));
    await client.call('node.pair.approve', { requestId: request.requestId });
    tell('Approved.');
  });
}

export async function rejectNode(which: string, command: NodesCommand): Promise<void> {
  await ask(command, async (client) => {
    const { requestId } = await findPending(client, which);
    await client.call('node.pair.reject', { requestId });
    tell('Rejected.');
  });
}

export async function describeNode(which: string, command: NodesCommand): Promise<void> {
  print(await ask(command, async (client) => client.call('node.describe', { nodeId: await findNode(client, which) })));
}

export async function revokeNode(which: string, command: NodesCommand): Promise<void> {
  await ask(command, async (client) => {
    await client.call('node.token.revoke', { nodeId: await findNode(client, which) });
    tell('Revoked; its connection has ended.');
  });
}

interface Invoked {
  node: string;
  command: string;
  /** JSON text. */
  params: string | undefined;
}

/** Runs a command on a node; its payload goes to stdout as JSON. */
export async function invokeNode(invoked: Invoked, command: NodesCommand<InvokeFlags>): Promise<void> {
  const { timeout, key = randomIds.id('cli') } = command.flags;
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
  if (timeout !== undefined && timeoutMs === undefined) {
    throw new UsageError(`--timeout must be a time such as 30s or 5m, not "${timeout}"`);
  }
  const params = parseParams(invoked.params);
  const { payload } = await ask(command, async (client) => {
    const nodeId = await findNode(client, invoked.node);
    const asked = { nodeId, command: invoked.command, params, timeoutMs, idempotencyKey: key };
    return client.call('node.invoke', asked, { timeoutMs: (timeoutMs ?? 30_000) + 10_000 });
  });
  print(payload);
}

async function ask<T>({ flags, around, root }: NodesCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}

async function findPending(client: GatewayClient, which: string): Promise<NodePairing> {
  const { pending } = await client.call('node.pair.list', {});
  const code = which.toUpperCase();
  const found = pending.find(({ requestId }) => requestId === which || pairingCodeOf(requestId) === code);
  if (found === undefined)
    throw new NotFoundError(`Unknown pairing request "${which}". List them with: headgate nodes pending`);
  return found;
}

async function findNode(client: GatewayClient, which: string): Promise<string> {
  const { nodes } = await client.call('node.list', {});
  const found = nodes.filter(({ nodeId, displayName }) => nodeId === which || displayName === which);
  const [node] = found;
  if (node === undefined) throw new NotFoundError(`Unknown node "${which}". List nodes with: headgate nodes list`);
  if (found.length > 1) throw new UsageError(`Several nodes are called "${which}": use the id.`);
  return node.nodeId;
}

const NONE = '-';
const visible = (text: string | undefined): string => (text === undefined ? NONE : toVisibleLine(text));

const toCells = (node: NodeRow, nowMs: number): string[] => [
  visible(node.displayName),
  toState(node, nowMs),
  visible(node.platform),
  visible(node.remoteIp),
  visible(node.commands.join(',') || NONE),
  visible(node.nodeId),
];

function toState({ connected, lastSeenAtMs }: NodeRow, nowMs: number): string {
  if (connected) return 'connected';
  return lastSeenAtMs === undefined ? 'not connected yet' : `last seen ${toDistance(lastSeenAtMs, nowMs)}`;
}

function toCard(request: NodePairing): string {
  const { requestId, nodeId, displayName, remoteIp, platform, version, commands = [], isRepair } = request;
  const lines = {
    Code: pairingCodeOf(requestId),
    Name: visible(displayName),
    Address: visible(remoteIp),
    Platform: visible(platform),
    Version: visible(version),
    Commands: visible(commands.join(', ') || NONE),
    Node: visible(nodeId),
    ...(isRepair && { Note: 'paired already; approving replaces its token and its commands' }),
  };
  return Object.entries(lines)
    .map(([label, text]) => `${label.padEnd(10)}${text}\n`)
    .join('');
}

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const tell = (text: string): void => void process.stderr.write(`${text}\n`);
