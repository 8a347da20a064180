import { useEffect } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';
import type { MathToken } from '../../state/text/markdown-extras.ts';
import { FORMULA } from '../parts/parts.ts';

/** A formula; its source until the code that draws it is loaded. */
export function FormulaPart({ token: { raw, text, isBlock } }: { token: MathToken }) {
  useEffect(() => void FORMULA.load(), []);
  const part = FORMULA.module.value;
  const formula = part ? (
    <part.Formula tex={text} isBlock={isBlock} raw={raw} />
  ) : (
    <code>{showHidden(raw.trim())}</code>
  );
  return isBlock ? <span class="formula">{formula}</span> : formula;
}
