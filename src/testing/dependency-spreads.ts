import { type ESTree, parseSync, Visitor } from 'vite';

const WORDS = [
  ...['deps', 'dependencies', 'parts', 'options', 'opts', 'services', 'shared', 'tools', 'io'],
  ...['context', 'surroundings', 'around', 'host', 'world', 'observer', 'sheet', 'props'],
];
const capitalized = WORDS.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('|');

/** `deps`, `callOptions`, `#deps` … */
const GROUP_NAME = new RegExp(`^(?:${WORDS.join('|')})$|(?:${capitalized})$`);
/** A type with such a name, as in `Pick<CallDeps, 'log'>`. Types in a namespace, such as `Intl`, are the platform's. */
const GROUP_TYPE = new RegExp(`(?<![\\w.])(?:\\w+)?(?:${capitalized})\\b`);

/**
 * The spreads in object literals that hide what a part gets: of an object that holds dependencies or options, which is
 * known by its name or by the name of its declared type, and of a literal that only groups fields.
 */
export function findDependencySpreads(file: string, source: string): string[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const groups = new Set<string>();
  const spreads: ESTree.Expression[] = [];
  const declare = (names: readonly string[], type: ESTree.Span | null | undefined) => {
    if (type && GROUP_TYPE.test(source.slice(type.start, type.end))) for (const name of names) groups.add(name);
  };
  new Visitor({
    Identifier: (node) => declare([node.name], 'typeAnnotation' in node ? node.typeAnnotation : undefined),
    ObjectPattern: ({ properties, typeAnnotation }) => declare(properties.map(restOf), typeAnnotation),
    PropertyDefinition: ({ key, typeAnnotation }) => declare([nameOf(key)], typeAnnotation),
    ObjectExpression({ properties }) {
      for (const property of properties) if (property.type === 'SpreadElement') spreads.push(property.argument);
    },
  }).visit(program);
  const isGroup = (name: string) => name !== '' && (GROUP_NAME.test(name) || groups.has(name));
  return spreads
    .filter((spread) => spread.type === 'ObjectExpression' || isGroup(nameOf(spread)))
    .map(({ start, end }) => `...${source.slice(start, end)}`);
}

/** `others` in `{ clock, ...others }`. */
const restOf = (property: ESTree.ObjectPattern['properties'][number]): string =>
  property.type === 'RestElement' ? nameOf(property.argument) : '';

/** The last name of `deps` and `this.#deps`; empty for other expressions, which make their values in place. */
function nameOf(node: ESTree.Node): string {
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node.name;
  return node.type === 'MemberExpression' ? nameOf(node.property) : '';
}
