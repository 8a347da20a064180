import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallEffects } from '../../../protocol/events/call-effects.ts';
import { toCallEffects } from './call-effects.ts';
import { readCommand } from './read-command.ts';

const effectsOf = (command: string): CallEffects => toCallEffects(readCommand(command, { folder: '/work' }));

test('effects keep the paths as written, each once, and the most serious reason', () => {
  assert.deepEqual(effectsOf('cat a.txt a.txt "$X" > b; eval "$CODE"'), {
    list: [
      { kind: 'read', target: 'a.txt', certain: true },
      { kind: 'read', target: '"$X"', certain: false },
      { kind: 'write', target: 'b', certain: true },
      { kind: 'unknown', target: 'eval', certain: false },
    ],
    incomplete: 'unknown_code',
  });
});

test('a long list keeps one effect of each kind, prefers serious ones, and counts the rest', () => {
  const reads = Array.from({ length: 30 }, (_, index) => `r${index}`).join(' ');
  const deletes = Array.from({ length: 30 }, (_, index) => `d${index}`).join(' ');
  const { list, more } = effectsOf(`cat ${reads}; rm ${deletes}; curl https://example.com`);
  const counts = Object.entries(Object.groupBy(list, ({ kind }) => kind)).map(([kind, all]) => [kind, all?.length]);
  assert.deepEqual(
    [counts, more],
    [
      [
        ['read', 1],
        ['delete', 10],
        ['network', 1],
      ],
      49,
    ],
  );
});

test('effects of the longest names fit the schema, and stay short', () => {
  const effects = effectsOf(`rm ${'x'.repeat(90_000)} ; ${'y'.repeat(5_000)}`);
  assert.deepEqual(CallEffects.parse(effects), effects);
  assert.ok(JSON.stringify(effects).length < 1_000);
});
