import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerStatus } from '../tool-servers.ts';
import { readPrompts, readResources } from './announced-lists.ts';
import { figuresOf } from './server-figures.ts';

const server = (state: ServerStatus['state'], offered: { resources: string[]; prompts: string[] }) => ({
  state,
  catalog: {
    resources: readResources(
      offered.resources.map((name) => ({ name, uri: `file:///${name}` })),
      { isTemplate: false },
    ),
    prompts: readPrompts(offered.prompts.map((name) => ({ name }))),
  },
});

test('tool servers that are not disabled count, with what they offer', () => {
  const listed = [
    server('connected', { resources: ['a', 'b'], prompts: ['p'] }),
    server('failed', { resources: ['c'], prompts: [] }),
    server('disabled', { resources: ['d'], prompts: ['q'] }),
  ];
  assert.deepEqual(figuresOf(listed), { servers: 2, failed: 1, resources: 3, prompts: 1 });
  assert.deepEqual(figuresOf([]), { servers: 0, failed: 0, resources: 0, prompts: 0 });
});
