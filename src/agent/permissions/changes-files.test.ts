import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Prepared, Tool } from '../tools/tool.ts';
import { mayChangeFiles } from './changes-files.ts';
import type { CommandReading, Effect } from './command-reading.ts';

const READY: Prepared = {
  ...{ kind: 'ready', subject: '', preview: '', approvalLabel: 'bash', needsApproval: false },
  execute: async () => ({ output: '', outcome: 'done' }),
};
const reading = (kinds: Effect['kind'][], more: Partial<CommandReading> = {}): { reading: CommandReading } => ({
  reading: { commands: [], gaps: [], effects: kinds.map((kind) => ({ kind, certain: true })), ...more },
});
const tool: Tool = {
  ...{ name: 'look', description: '', readOnly: true, safeToRepeat: true },
  parameters: z.unknown(),
  prepare: async () => READY,
};

test('a call may change files unless its tool or all its effects only read', () => {
  assert.equal(mayChangeFiles(READY), true, 'nothing is known');
  assert.equal(mayChangeFiles({ ...READY, tool }), false);
  assert.equal(mayChangeFiles({ ...READY, ...reading(['read', 'network', 'process']) }), false);
  for (const kind of ['write', 'delete', 'unknown', 'system', 'privilege'] as const)
    assert.equal(mayChangeFiles({ ...READY, ...reading(['read', kind]) }), true, kind);
  const cache = reading([], { effects: [{ kind: 'write', certain: true, isIncidental: true }] });
  assert.equal(mayChangeFiles({ ...READY, ...cache }), false, 'a cache beside the work');
  assert.equal(
    mayChangeFiles({ ...READY, ...reading(['read'], { gaps: [{ reason: 'unknown_words', at: '$x' }] }) }),
    false,
  );
  assert.equal(mayChangeFiles({ ...READY, ...reading([], { gaps: [{ reason: 'unknown_program', at: 'x' }] }) }), true);
});

test('a command of another machine changes no file here, and a refused call none at all', () => {
  assert.equal(mayChangeFiles({ ...READY, ...reading(['write']), matched: { node: 'mac' } }), false);
  assert.equal(mayChangeFiles({ kind: 'refused', subject: '', reason: 'no' }), false);
});
