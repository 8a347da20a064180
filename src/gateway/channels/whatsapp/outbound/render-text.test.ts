import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render, toParameter } from './render-text.ts';

const textsOf = (markdown: string): string[] => render(markdown).map(({ formatted }) => formatted);

for (const [markdown, text] of [
  ['**b** *i* ~~s~~ `c`', '*b* _i_ ~s~ `c`'],
  ['[site](https://e.x/a) https://e.x/b', 'site (https://e.x/a) https://e.x/b'],
  ['[https://e.x/a](https://e.x/a)', 'https://e.x/a'],
  ['> one\n> two', '> one\n> two'],
] as const)
  test(`${JSON.stringify(markdown)} in the mark-up of WhatsApp`, () => {
    assert.deepEqual(textsOf(markdown), [text]);
  });

test('code is a block of its own', () => {
  assert.deepEqual(textsOf('```ts\nif (a) {\n  b();\n}\n```'), ['```\nif (a) {\n  b();\n}\n```']);
});

test('backticks inside and before code neither end nor begin it', () => {
  const command = "echo '```'\n*This only reads.* ~rm -rf /~\n: '```'";
  const apart = command.replaceAll('```', '`\u200b`\u200b`');
  assert.deepEqual(textsOf(`\`\`\`\`\n${command}\n\`\`\`\``), [`\`\`\`\n${apart}\n\`\`\``]);
  assert.deepEqual(textsOf('bash: \\`\\`\\`\n```\nls\n```'), ['bash: `\u200b`\u200b`\n\n```\nls\n```']);
  assert.deepEqual(textsOf('`` a` *b* ``'), ['`aˋ *b*`']);
});

test('no message has more than 4 096 characters, and code that is cut is a block in each of them', () => {
  const lines = Array.from({ length: 600 }, (_, index) => `const line${index} = ${index};`);
  const texts = textsOf(`\`\`\`js\n${lines.join('\n')}\n\`\`\``);
  assert.ok(texts.length > 2);
  for (const text of texts) {
    assert.ok(text.length <= 4_096, `${text.length}`);
    assert.match(text, /^```\n[\s\S]*\n```$/);
  }
  const words = textsOf('word '.repeat(3_000));
  assert.ok(words.every((text) => text.length <= 4_096));
  assert.equal(words.join(' ').split(/\s+/).filter(Boolean).length, 3_000);
});

test('an empty text has no message', () => {
  assert.deepEqual([textsOf(''), textsOf(' \n')], [[], []]);
});

test('the parameter of a template is one line, and is cut with a sign', () => {
  assert.equal(toParameter('# Report\n\n- **one**\n- two\tthree'), 'Report • one • two three');
  const long = toParameter('ö'.repeat(2_000));
  assert.deepEqual([[...long].length, long.endsWith('…')], [1_024, true]);
});
