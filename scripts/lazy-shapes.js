// Makes the fields of object schemas at the first use of the schema. Otherwise every start would make thousands of them.
import { readFile } from 'node:fs/promises';
import { parseSync, Visitor } from 'vite';

/** Methods of zod whose argument has the fields of an object schema. */
const TAKING_FIELDS = new Set(['object', 'strictObject', 'looseObject', 'extend']);
/** What means something else inside a getter. */
const BOUND = new Set(['ThisExpression', 'AwaitExpression', 'YieldExpression']);

/**
 * Rewrites `z.object({ at: z.int() })` to `z.object({ get at() { return z.int(); } })`. Zod reads such fields when the schema is used for
 * the first time, and keeps them: that is how it defines schemas that contain themselves. Halves the 6,400 schemas of a start.
 */
export const lazyShapes = {
  name: 'lazy-shapes',
  setup(builder) {
    builder.onLoad({ filter: /[\\/](src|protocol)[\\/].*\.ts$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      return source.includes("from 'zod'") ? { contents: withLazyShapes(source), loader: 'ts' } : undefined;
    });
  },
};

/** The source with such fields; its lines keep their numbers. */
export function withLazyShapes(source) {
  const edits = [];
  new Visitor({
    CallExpression(call) {
      for (const { key, value } of movableFieldsOf(call)) {
        edits.push({ at: key.start, text: 'get ' });
        edits.push({ at: source.indexOf(':', key.end), cut: 1, text: '(){return(' });
        edits.push({ at: value.end, text: ')}' });
      }
    },
  }).visit(parseSync('schemas.ts', source).program);
  edits.sort((a, b) => a.at - b.at);
  let [done, at] = ['', 0];
  for (const edit of edits) {
    done += source.slice(at, edit.at) + edit.text;
    at = edit.at + (edit.cut ?? 0);
  }
  return done + source.slice(at);
}

/** The fields that a getter can compute: not names, spreads and computed keys, which stay as they are. */
function movableFieldsOf({ callee, arguments: [fields] }) {
  const takesFields = callee.type === 'MemberExpression' && TAKING_FIELDS.has(callee.property.name);
  if (!takesFields || fields?.type !== 'ObjectExpression') return [];
  return fields.properties.filter(isPlainField).filter(({ value }) => value.type !== 'Identifier' && isMovable(value));
}

const isPlainField = ({ type, kind, computed, method, shorthand }) =>
  type === 'Property' && kind === 'init' && !computed && !method && !shorthand;

function isMovable(node) {
  if (node === null || typeof node !== 'object') return true;
  if (BOUND.has(node.type)) return false;
  return Object.values(node).every(isMovable);
}
