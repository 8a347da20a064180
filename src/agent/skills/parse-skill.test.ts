import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSkill } from './parse-skill.ts';

const parse = (head: string) => parseSkill(`---\nname: tidy\ndescription: Tidies.\n${head}\n---\nDo it.\n`, 'tidy');

test('a field that cannot become a text is empty, and the skill stays', async () => {
  for (const head of [
    'license: {toString: 1}',
    'metadata: {author: {toString: 1}, version: [{valueOf: 1}]}',
    'allowed-tools: [{toString: null}]',
    '__proto__: {toString: 1}',
  ]) {
    const parsed = await parse(head);
    assert.ok(typeof parsed === 'object', head);
    assert.deepEqual([parsed.license, parsed.author, parsed.version, parsed.allowedTools], ['', '', '', []], head);
  }
});

test('tools are named with their brackets, in a time that grows with the text', async () => {
  const tools = async (text: string) => {
    const parsed = await parse(`allowed-tools: ${text}`);
    return typeof parsed === 'object' ? parsed.allowedTools : parsed;
  };
  assert.deepEqual(await tools('Bash(git add:*, b) Read, Edit(x) Glob(y'), [
    'Bash(git add:*, b)',
    'Read',
    'Edit(x)',
    'Glob',
    'y',
  ]);
  const { cpuUsage } = process;
  const before = cpuUsage();
  assert.equal((await tools('a('.repeat(30_000))).length, 100);
  assert.ok(cpuUsage(before).user < 500_000, 'half a second of the processor; it took several times as long');
});
