import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('./', import.meta.url);
const DECLARATION = /(?:^|[{;])\s*([a-z-]+):\s*([^;{}]+)(?=;)/gm;

/** Of these, every length is a token. What is as wide as its contents need is in rem. */
const SPACED = /^(padding|margin|gap|row-gap|column-gap|font|font-size|border(-[a-z]+)*-radius|box-shadow)(-|$)/;
/** The width of a line, and the shift of a sign in its line. */
const THIN = /(?<![\d.])[0-3]px/g;
const COLOUR = /#[0-9a-f]{3,8}\b|\b(rgba?|hsla?|oklch|light-dark)\(/i;

/** Declarations that hold a colour or a length which is no token. */
function findRaw(css: string): string[] {
  const plain = css.replaceAll(/\/\*.*?\*\//gs, '');
  return [...plain.matchAll(DECLARATION)].flatMap(([, property = '', value = '']) => {
    const left = value.replaceAll(THIN, '');
    const isRaw = COLOUR.test(left) || /\dpx/.test(left) || (SPACED.test(property) && /\drem/.test(left));
    return isRaw ? [`${property}: ${value}`] : [];
  });
}

const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.css'));

test('only tokens.css holds colours, spaces, sizes of type, radii and shadows; other styles use their names', () => {
  const raw = files
    .filter((name) => name !== 'tokens.css')
    .flatMap((name) => findRaw(read(name)).map((one) => `${name}: ${one}`));
  assert.deepEqual(raw, []);
});

test('a raw colour, a raw length and a space in rem are found; thin lines and widths in rem are not', () => {
  const css = 'a { color: #fff; padding: 4px 0; gap: 1rem; border: 1px solid var(--line); width: 20rem; }';
  assert.deepEqual(findRaw(css), ['color: #fff', 'padding: 4px 0', 'gap: 1rem']);
});

test('every token that a style uses is declared', () => {
  const all = files.map(read).join('\n');
  const declared = new Set([...all.matchAll(/(--[a-z0-9-]+):/g)].map(([, name]) => name));
  const used = new Set(
    [...all.matchAll(/var\((--(?:space|text|radius|leading|weight|size|width|height)-[a-z0-9-]+)/g)].map(
      ([, name]) => name,
    ),
  );
  assert.deepEqual(
    [...used].filter((name) => !declared.has(name)),
    [],
  );
});
