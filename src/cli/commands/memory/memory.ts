import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Memory, QuarantinedMemory } from '../../../../protocol/methods/memory.ts';
import { toTaintWords } from '../../../../protocol/text/rule-words.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { findHostTimeZone } from '../../../host-time-zone.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toLocal } from '../../local-time.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

interface MemoryCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface ListMemoriesFlags extends TargetFlags {
  waiting?: true;
  search?: string;
  json?: true;
}

export interface PlaceFlags extends TargetFlags {
  scope?: string;
  workstream?: string;
}

export interface SaveMemoryFlags extends PlaceFlags {
  description?: string;
  type?: string;
}

/** Lists memories, or those that wait for a person. */
export async function listMemories(command: MemoryCommand<ListMemoriesFlags>): Promise<void> {
  const { waiting, search, json } = command.flags;
  const memories = await ask(command, async (client): Promise<readonly (Memory | QuarantinedMemory)[]> => {
    if (waiting) return (await client.call('memory.quarantine.list', { limit: 200 })).memories;
    if (search !== undefined) return (await client.call('memory.search', { query: search, limit: 50 })).memories;
    return (await client.call('memory.list', { limit: 200 })).memories;
  });
  if (json) process.stdout.write(`${JSON.stringify(memories, undefined, 2)}\n`);
  else if (memories.length === 0) process.stderr.write(waiting ? 'No memory waits.\n' : 'No memories.\n');
  else process.stdout.write(toTextTable(waiting ? toWaiting(memories) : toUsed(memories)));
}

const toUsed = (memories: readonly (Memory | QuarantinedMemory)[]): string[][] => [
  ['NAME', 'SCOPE', 'TYPE', 'SAVED', 'CONTENT'],
  ...memories.map((memory) => [
    toSafeText(memory.name),
    placeWords(memory),
    memory.type,
    at('updatedAtMs' in memory ? memory.updatedAtMs : memory.createdAtMs),
    toLine(memory.content),
  ]),
];

const toWaiting = (memories: readonly (Memory | QuarantinedMemory)[]): string[][] => [
  ['ID', 'NAME', 'SCOPE', 'SAVED', 'AFTER READING', 'CONTENT'],
  ...memories.map((memory) => [
    memory.memoryId,
    toSafeText(memory.name),
    placeWords(memory),
    at(memory.createdAtMs),
    'taint' in memory ? toSafeText(toTaintWords(memory.taint)) : '',
    toLine(memory.content),
  ]),
];

const at = (ms: number): string => toLocal(ms, { tz: findHostTimeZone() });

const placeWords = ({ scope, scopeId }: Pick<Memory, 'scope' | 'scopeId'>): string =>
  scope === 'workstream' ? `workstream ${scopeId.slice(0, 8)}` : scope;

const SHOWN = 60;

function toLine(content: string): string {
  const line = toSafeText(content).replaceAll(/\s+/g, ' ').trim();
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}…`;
}

export async function showMemory(name: string, command: MemoryCommand<PlaceFlags>): Promise<void> {
  const content = await ask(command, async (client) => {
    if (!name.startsWith('mem_')) return (await client.call('memory.get', { name, ...placeOf(command.flags) })).content;
    const { memories } = await client.call('memory.quarantine.list', { limit: 200 });
    const waiting = memories.find(({ memoryId }) => memoryId === name);
    return waiting?.content ?? (await client.call('memory.get', { name, ...placeOf(command.flags) })).content;
  });
  process.stdout.write(`${toSafeText(content)}\n`);
}

export async function saveMemory(
  memory: { name: string; content: string },
  command: MemoryCommand<SaveMemoryFlags>,
): Promise<void> {
  const { description, type, ...place } = command.flags;
  const { created } = await ask(command, (client) =>
    client.call('memory.save', {
      ...memory,
      ...placeOf(place),
      ...(description !== undefined && { description }),
      ...(type !== undefined && { type }),
    }),
  );
  process.stderr.write(created ? 'Saved.\n' : 'Saved; it replaces the former one.\n');
}

export async function deleteMemory(name: string, command: MemoryCommand<PlaceFlags>): Promise<void> {
  await ask(command, (client) => client.call('memory.delete', { name, ...placeOf(command.flags) }));
  process.stderr.write('Deleted.\n');
}

export async function releaseMemory(memoryId: string, command: MemoryCommand): Promise<void> {
  const { created } = await ask(command, (client) => client.call('memory.quarantine.release', { memoryId }));
  process.stderr.write(created ? 'Released.\n' : 'Released; it replaces the former one.\n');
}

export async function discardMemory(memoryId: string, command: MemoryCommand): Promise<void> {
  await ask(command, (client) => client.call('memory.quarantine.discard', { memoryId }));
  process.stderr.write('Deleted.\n');
}

/** A workstream stands for its scope. */
function placeOf({ scope, workstream }: PlaceFlags) {
  const named = scope ?? (workstream === undefined ? undefined : 'workstream');
  return { ...(named !== undefined && { scope: named }), ...(workstream !== undefined && { scopeId: workstream }) };
}

async function ask<T>({ flags, around, root }: MemoryCommand, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}
