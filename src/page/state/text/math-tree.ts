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

/** Copies a formula without everything that draws no formula, such as links, styles, and the source text beside it. */
export function toMathTree({ localName, attributes, childNodes }: Parsed): MathNode | undefined {
  if (!ELEMENTS.has(localName)) return undefined;
  const children = [...childNodes].flatMap((child) => {
    if (child.nodeType === TEXT) return child.textContent ?? '';
    return isElement(child) ? (toMathTree(child) ?? []) : [];
  });
  const kept = [...attributes].filter(({ name }) => ATTRIBUTES.has(name));
  const known = Object.fromEntries(kept.map(({ name, value }) => [name, value]));
  return { tag: localName, ...withPlainLetters(localName, known, children) };
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
