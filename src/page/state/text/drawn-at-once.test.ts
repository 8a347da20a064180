import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDrawnAtOnce } from './drawn-at-once.ts';
import { splitMarkdown } from './markdown-split.ts';

const isOf = (text: string) => isDrawnAtOnce(splitMarkdown(text));

test('usual parts of an answer can be drawn again at once', () => {
  assert.ok(
    isOf('# One\n\nSome **words**.\n\n- a\n- b\n\n| a |\n|---|\n| 1 |\n\n```ts\nconst a = 1;\n```\n\n> told\n'),
  );
});

test('what is loaded, kept open, or the target of a link stays', () => {
  const lasting = [
    '```mermaid\ngraph TD\n```',
    '~~~ mermaid\ngraph TD\n~~~',
    '```diff\n-a\n+b\n```',
    'It is $a^2$.',
    'It is \\(a\\).',
    '\\[\na\n\\]',
    'As said[^1].',
    '[^1]: Here.',
    '> ```mermaid\n> graph TD\n> ```',
  ];
  for (const text of lasting) assert.equal(isOf(`Some words.\n\n${text}\n`), false, text);
});

test('what one frame cannot draw stays', () => {
  assert.equal(isOf('word '.repeat(2_000)), true);
  assert.equal(isOf('word '.repeat(4_000)), false);
});
