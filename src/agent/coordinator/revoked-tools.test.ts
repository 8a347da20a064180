import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeTool, fakeToolbox } from '../run/fake-toolbox.ts';
import { createToolFixture, recordRun } from '../tools/tool-fixture.ts';
import { withoutRevoked } from './revoked-tools.ts';

const TOOLS: Record<string, FakeTool> = {
  use_tool: { label: 'mcp__many__tool3', known: () => ({ calls: 'mcp__many__tool3' }) },
  watch: { known: () => ({ runsLater: { tool: 'bash', command: 'make status' } }) },
  write_file: { label: 'overwrite_file' },
};

for (const [tool, revoked] of [
  ['use_tool', 'mcp__many__tool3'],
  ['use_tool', 'use_tool'],
  ['watch', 'bash'],
  ['write_file', 'overwrite_file'],
] as const)
  test(`a call of ${tool} is refused when ${revoked} was revoked, also after it was prepared`, async () => {
    await using at = await createToolFixture();
    const revokedNow: string[] = [];
    const toolbox = withoutRevoked(fakeToolbox(TOOLS), async () => revokedNow);
    const prepare = () => toolbox.prepare({ id: '1', name: tool, arguments: '{}' }, at.context());
    const before = await prepare();
    assert.ok(before.kind === 'ready');
    const run = recordRun();
    assert.equal((await before.execute(run)).outcome, 'done');
    revokedNow.push('other', revoked);
    const [later, after] = [await before.execute(run), await prepare()];
    assert.deepEqual([later.outcome, after.kind], ['blocked', 'refused']);
    const said = `The tool ${revoked} was revoked`;
    assert.ok(later.output.startsWith(said) && after.kind === 'refused' && after.reason.startsWith(said));
  });
