import katex from 'katex';
import { type ComponentChild, h } from 'preact';
import { useMemo } from 'preact/hooks';
import { macrosFor } from '../../state/text/formula-macros.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { type MathNode, toMathTree } from '../../state/text/math-tree.ts';

interface FormulaProps {
  tex: string;
  isBlock: boolean;
  /** Shown if it is no formula. */
  raw: string;
}

/** A formula, drawn by the browser: fonts and styles of the page do. */
export function Formula({ tex, isBlock, raw }: FormulaProps) {
  const tree = useMemo(() => toTree(tex, isBlock), [tex, isBlock]);
  if (!tree) return <code>{showHidden(raw.trim())}</code>;
  return <>{draw(tree)}</>;
}

function toTree(tex: string, displayMode: boolean): MathNode | undefined {
  const maxExpand = macrosFor(tex);
  if (maxExpand === undefined) return undefined;
  try {
    const html = katex.renderToString(tex, { output: 'mathml', displayMode, strict: 'ignore', maxSize: 20, maxExpand });
    // The text becomes a document that nothing shows and that runs nothing; only parts of it are copied.
    const math = new DOMParser().parseFromString(html, 'text/html').querySelector('math');
    return math ? toMathTree(math) : undefined;
  } catch {
    return undefined; // no TeX, or more than it may be
  }
}

const draw = (node: MathNode | string): ComponentChild =>
  typeof node === 'string' ? showHidden(node) : h(node.tag, node.attributes, ...node.children.map(draw));
