import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { ToolContext, ToolRun } from '../tools/tool.ts';
import type { MemorySource } from './memory-source.ts';
import { createMemoryTool } from './memory-tool.ts';

const gone = async () => {
  throw new GatewayError('NOT_FOUND', 'There is no memory with this name');
};

const memories = {
  placesIn: async () => ({ usual: 'workstream', scopes: ['workstream'], asksForGlobal: false }),
  remove: gone,
} satisfies Partial<MemorySource>;

async function deleted(wasInterrupted: boolean) {
  const tool = createMemoryTool({ memories: memories as unknown as MemorySource, settings: { maxContent: 100 } });
  const context = { wsId: 'ws_1', callId: 'call_1', history: [], wasInterrupted } as unknown as ToolContext;
  const prepared = await tool.prepare({ action: 'delete', name: 'colour' }, context);
  assert.ok(prepared.kind === 'ready');
  return prepared.execute({} as ToolRun);
}

test('a delete that a restart repeats is done, although the memory is gone already', async () => {
  assert.deepEqual([(await deleted(true)).outcome, (await deleted(false)).outcome], ['done', 'failed']);
});
