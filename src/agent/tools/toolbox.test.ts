import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { testGuard } from '../guard/guard-fixture.ts';
import type { Prepared, Tool } from './tool.ts';
import { createToolFixture } from './tool-fixture.ts';
import { createToolbox } from './toolbox.ts';

const runs: Extract<Prepared, { kind: 'ready' }>['execute'] = async () => ({ output: '', outcome: 'done' });
const ready: Prepared = {
  kind: 'ready',
  subject: 'hi\u202e\nthere',
  preview: 'line\u200b\n\ttab',
  approvalLabel: 'echo',
  needsApproval: true,
  execute: runs,
};
const echo: Tool<{ text: string; times: number }> = {
  name: 'echo',
  description: 'Says it again.',
  parameters: z.strictObject({ text: z.string().describe('What'), times: z.int().default(1) }),
  readOnly: true,
  safeToRepeat: true,
  prepare: async () => ready,
};
const broken: Tool<object> = {
  ...echo,
  name: 'broken',
  parameters: z.strictObject({}),
  prepare: async () => {
    throw Object.assign(new Error('canary in /secret/path'), { code: 'EMFILE' });
  },
};

async function prepare(name: string, text: string) {
  await using fixture = await createToolFixture();
  const toolbox = createToolbox([echo, broken], testGuard());
  const call = await toolbox.prepare({ id: 'c1', name, arguments: text }, fixture.context());
  const { tool, ...rest } = call;
  return { tool: tool?.name, ...rest, ...(call.kind === 'ready' && { execute: runs }) };
}

test('models get each tool with the schema of its arguments', () => {
  assert.deepEqual(createToolbox([echo], testGuard()).definitions(), [
    {
      name: 'echo',
      description: 'Says it again.',
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'What' },
          times: { type: 'integer', default: 1, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ['text'],
        additionalProperties: false,
      },
    },
  ]);
});

test('a valid call is prepared; its arguments get a canonical text, and hidden characters are made visible', async () => {
  assert.deepEqual(await prepare('echo', '{"times": 2, "text":"hi"}'), {
    ...ready,
    tool: 'echo',
    subject: 'hi\\u202e\\nthere',
    preview: 'line\\u200b\n\ttab',
    canonicalArguments: '{"text":"hi","times":2}',
  });
  assert.equal((await prepare('echo', '{"text":"hi"}')).canonicalArguments, '{"text":"hi","times":1}');
});

test('an unknown tool is refused with the available names', async () => {
  assert.deepEqual(await prepare('rm\u202e', '{}'), {
    tool: undefined,
    kind: 'refused',
    subject: '',
    reason: 'Unknown tool: rm\\u202e. Available tools: echo, broken.',
    canonicalArguments: '{}',
  });
});

test('malformed arguments are refused with the position of the error', async () => {
  const { reason, ...rest } = { reason: '', ...(await prepare('echo', '{"text": "hi')) };
  assert.match(reason, /^JSON parse error: .*position 12/);
  assert.deepEqual(rest, { tool: 'echo', kind: 'refused', subject: '', canonicalArguments: '{"text": "hi' });
});

test('invalid arguments are refused, naming the fields', async () => {
  const reason = async (text: string) => ({ reason: '', ...(await prepare('echo', text)) }).reason;
  assert.match(await reason('{"times":"two"}'), /^Invalid arguments: text: .*; times: /);
  assert.match(await reason('{"text":"hi","txet":1}'), /txet/);
  assert.match(await reason('[]'), /^Invalid arguments: /);
  assert.match(await reason(''), /^Invalid arguments: text: /);
});

test('arguments that are nested without end are refused', async () => {
  const { reason } = { reason: '', ...(await prepare('echo', `{"text":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)) };
  assert.equal(reason, 'Invalid arguments: they are nested more than 200 levels deep.');
});

test('an exception during preparation becomes a refusal that reveals no secret', async () => {
  assert.deepEqual(await prepare('broken', ''), {
    tool: 'broken',
    kind: 'refused',
    subject: '',
    reason: 'broken could not be prepared (EMFILE).',
    canonicalArguments: '{}',
  });
});

test('a tool that is not known yet is waited for', async () => {
  await using fixture = await createToolFixture();
  let known: Tool[] = [];
  const ready = async () => {
    known = [echo];
  };
  const others = { offered: () => known, find: (name: string) => known.find((tool) => tool.name === name), ready };
  const toolbox = createToolbox([broken], testGuard(), others);
  const call = { id: 'c1', name: 'echo', arguments: '{"text":"hi"}' };
  assert.equal((await toolbox.prepare(call, fixture.context())).kind, 'ready');
  known = [];
  const cancelled = createToolbox([broken], testGuard(), { ...others, ready: () => Promise.reject(new Error('over')) });
  assert.equal((await cancelled.prepare(call, fixture.context())).kind, 'refused');
});
