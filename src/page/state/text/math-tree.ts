/** An element of a formula, as data. */
export interface MathNode {
  tag: string;
  attributes: Record<string, string>;
  children: readonly (MathNode | string)[];
}

/** What a browser's parser knows of an element. */
interface Parsed {
  localName: string;
  attributes: Iterable<{ name: string; value: string }>;
  childNodes: Iterable<{ nodeType: number; textContent: string | null }>;
}

const ELEMENTS = new Set(
  'math semantics mrow mi mn mo ms mtext mspace msub msup msubsup munder mover munderover mfrac msqrt mroot mtable mtr mtd mlabeledtr menclose mpadded mphantom mstyle merror mmultiscripts mprescripts none'.split(
    ' ',
  ),
);

const ATTRIBUTES = new Set(
  'accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form height linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width'.split(
    ' ',
  ),
);

/** How much of an element’s surroundings is used up: how far it was moved up or down, and how large its letters are. */
interface Place {
  movedEm: number;
  size: number;
}

/** Letters may be moved so far in all. Further away they would be drawn over what stands around the formula. */
const MOST_MOVED_EM = 4;
/** Sizes within sizes multiply. */
const MOST_SIZE = 3;

/** Copies a formula without everything that draws no formula, such as links, styles, and the source text beside it. */
export const toMathTree = (parsed: Parsed): MathNode | undefined => toTree(parsed, { movedEm: 0, size: 1 });

function toTree({ localName, attributes, childNodes }: Parsed, around: Place): MathNode | undefined {
  if (!ELEMENTS.has(localName)) return undefined;
  const kept = [...attributes].filter(({ name }) => ATTRIBUTES.has(name));
  const { known, place } = withinBounds(Object.fromEntries(kept.map(({ name, value }) => [name, value])), around);
  const children = [...childNodes].flatMap((child) => {
    if (child.nodeType === TEXT) return child.textContent ?? '';
    return isElement(child) ? (toTree(child, place) ?? []) : [];
  });
  return { tag: localName, ...withPlainLetters(localName, known, children) };
}

/** Leaves out a move or a size that goes too far. */
function withinBounds({ voffset, mathsize, ...others }: Record<string, string>, around: Place) {
  const size = around.size * (toEm(mathsize) ?? 1);
  const isSize = size <= MOST_SIZE;
  const moved = around.movedEm + Math.abs(toEm(voffset) ?? 0) * around.size;
  const isMove = moved <= MOST_MOVED_EM;
  return {
    known: {
      ...others,
      ...(voffset !== undefined && isMove && { voffset }),
      ...(mathsize !== undefined && isSize && { mathsize }),
    },
    place: { movedEm: isMove ? moved : around.movedEm, size: isSize ? size : around.size },
  };
}

/** The units that browsers know, in widths of the letter M. */
const UNITS: Record<string, number> = { em: 1, ex: 0.5, px: 1 / 16, pt: 1 / 12, pc: 1, in: 6, cm: 2.4, mm: 0.24 };

function toEm(length: string | undefined): number | undefined {
  const [, number, unit = ''] = /^\s*([-+]?[\d.]+)([a-z]+)\s*$/i.exec(length ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit.toLowerCase()] ?? 0);
}

type Content = Pick<MathNode, 'attributes' | 'children'>;

/**
 * Browsers replace the letter of a variable by an italic one that only mathematical fonts have, and many machines have no such font. So
 * letters stay as they are, and the style sheet slants them.
 */
function withPlainLetters(tag: string, attributes: Record<string, string>, children: MathNode['children']): Content {
  const { mathvariant } = attributes;
  const [letter] = children;
  if (tag !== 'mi' || children.length !== 1 || typeof letter !== 'string') return { attributes, children };
  if (mathvariant === 'double-struck') return { attributes, children: [DOUBLE_STRUCK[letter] ?? letter] };
  if (mathvariant !== undefined || !/^\p{L}$/u.test(letter)) return { attributes, children };
  return { attributes: { ...attributes, mathvariant: 'normal', class: 'variable' }, children };
}

/** Those that ordinary fonts have. */
const DOUBLE_STRUCK: Record<string, string> = { C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ', Z: 'ℤ' };

const TEXT = 3;
const isElement = (node: object): node is Parsed & { nodeType: number; textContent: string | null } =>
  'localName' in node && 'attributes' in node;
