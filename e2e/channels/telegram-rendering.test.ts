import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { render } from '../../src/gateway/channels/telegram/outbound/render.ts';
import { parseHtml } from '../support/channels/telegram/parse-html.ts';

const MAX_UNITS = 4_096;

/** Pieces of Markdown that break naive renderers when they are put side by side. */
const SYNTAX = [
  ...[
    '*',
    '**',
    '_',
    '~~',
    '`',
    '```',
    '```ts\n',
    '\n```\n',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '1. ',
    '# ',
    '---\n',
    '  ',
    '    ',
  ],
  ...[
    '<',
    '>',
    '&',
    '&amp;',
    '&#0;',
    '&#xd800;',
    '<b>',
    '</b>',
    '<a href="',
    '<!--',
    '[',
    '](',
    ')',
    '![',
    '\\',
    '|',
    '|--|\n',
  ],
  ...[
    'https://e.x/?a=1&b=2',
    'javascript:x',
    'u@e.x',
    '😀',
    '\ud83d',
    '\ude00',
    '👨‍👩‍👧',
    'é',
    '\u0000',
    '\u202e',
    '\r\n',
    '\t',
  ],
];
const soup = fc
  .array(fc.oneof(fc.constantFrom(...SYNTAX), fc.string({ maxLength: 12 }), fc.stringMatching(/^[a-z]{1,9} $/)), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''));
/** Text without a place to cut. */
const unbroken = fc
  .tuple(fc.constantFrom('', 'x'), fc.constantFrom('😀', '👨‍👩‍👧', 'a😀', '中'), fc.integer({ min: 1000, max: 6000 }))
  .map(([start, part, times]) => `${start}${part.repeat(times)}`);
/** Soup that takes several messages. */
const longSoup = fc
  .tuple(soup, fc.integer({ min: 1, max: 300 }))
  .map(([text, times]) => text.repeat(times).slice(0, 30_000));

test('Telegram accepts every message that is rendered, formatted and plain', () => {
  fc.assert(
    fc.property(fc.oneof(soup, longSoup, unbroken), (markdown) => {
      for (const { formatted, plain } of render(markdown)) {
        const { text } = parseHtml(formatted); // throws what Telegram would answer
        assert.ok(text.length <= MAX_UNITS && plain.length <= MAX_UNITS);
        assert.ok(text !== '' && plain.trim() !== '');
        assert.ok(formatted.isWellFormed() && plain.isWellFormed());
      }
    }),
    { numRuns: 300 },
  );
});

test('the formatted and the plain message say the same, apart from the addresses of links', () => {
  fc.assert(
    fc.property(fc.oneof(soup, longSoup, unbroken), (markdown) => {
      for (const { formatted, plain } of render(markdown.replaceAll(/\]\(|:\/\/|@/g, ''))) {
        const { text } = parseHtml(formatted);
        assert.equal(squeezed(text), squeezed(plain));
      }
    }),
    { numRuns: 200 },
  );
});

const squeezed = (text: string): string => text.replaceAll(/[\s\0\r]+/g, ' ').trim();

const word = fc.stringMatching(/^[a-z]{1,12}$/);
const words = fc.array(word, { minLength: 1, maxLength: 400, size: 'max' }).map((all) => all.join(' '));
const block = fc.oneof(
  words,
  words.map((text) => `**${text}**`),
  words.map((text) => `# ${text}`),
  words.map((text) => `> ${text}`),
  fc.array(words, { minLength: 1, maxLength: 5 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
  fc.array(words, { minLength: 1, maxLength: 9 }).map((lines) => `\`\`\`\n${lines.join('\n')}\n\`\`\``),
  words.map((text) => `[${text}](https://example.com/)`),
  fc.tuple(word, word).map(([a, b]) => `| ${a} | ${b} |\n|---|---|\n| ${b} | ${a} |`),
);

test('no word is lost, doubled or moved by cutting', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 20, size: 'max' }), (blocks) => {
      const markdown = blocks.join('\n\n');
      const said = markdown.replaceAll('https://example.com/', '').match(/[a-z]+/g);
      const texts = render(markdown).map(({ formatted }) => parseHtml(formatted).text);
      assert.deepEqual(texts.join('\n').match(/[a-z]+/g), said);
    }),
    { numRuns: 60 },
  );
});

test('code keeps every character, over all its messages', () => {
  const line = fc.string({ minLength: 1, maxLength: 80 }).map((text) => `x${text.replaceAll(/[`\r\n\0]/g, '.')}x`);
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 300, size: 'max' }), (lines) => {
      const messages = render(`\`\`\`js\n${lines.join('\n')}\n\`\`\``).map(({ formatted }) => parseHtml(formatted));
      for (const { text, entities } of messages)
        assert.deepEqual(entities, [{ type: 'pre', offset: 0, length: text.length, language: 'js' }]);
      assert.equal(messages.map(({ text }) => text).join('\n'), lines.join('\n'));
    }),
    { numRuns: 60 },
  );
});
