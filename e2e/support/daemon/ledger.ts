import assert from 'node:assert/strict';
import type { Message } from '../../../src/agent/message.ts';
import { checkDisk } from '../../checker/check.ts';
import type { RunOnDisk, WorkstreamOnDisk } from '../../checker/evidence.ts';
import { readDisk } from '../../checker/read-disk.ts';

export type { Logged } from '../../checker/evidence.ts';

/** One workstream as stored in the database. */
export interface Ledger extends Pick<WorkstreamOnDisk, 'events' | 'approvals'> {
  messages: Message[];
  /** In the order of acceptance. */
  runs: RunOnDisk[];
}

/** Reads a workstream from the database, with or without a running daemon, and checks its invariants. */
export function readLedger(home: string, wsId: string): Ledger {
  const disk = readDisk(home, [wsId]);
  assert.deepEqual(checkDisk(disk), []);
  const [workstream] = disk.workstreams;
  assert.ok(workstream, `workstream ${wsId} is stored`);
  const { events, messages, runs, approvals } = workstream;
  return { events, messages: messages.map(({ message }) => message), runs, approvals };
}

/** The text of each message: `user: hello`. */
export const speechOf = ({ messages }: Ledger): string[] =>
  messages.map((message) => `${message.role}: ${message.role === 'tool' ? message.output.trim() : message.content}`);
