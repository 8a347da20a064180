import { useEffect } from 'preact/hooks';
import { DIAGRAM } from '../parts/parts.ts';
import { CodeBlock } from '../text/code.tsx';

/** A diagram; its source until the code that shows it is loaded. */
export function DiagramPart({ source, language }: { source: string; language: string }) {
  useEffect(() => void DIAGRAM.load(), []);
  const part = DIAGRAM.module.value;
  return part ? <part.Diagram source={source} /> : <CodeBlock text={source} language={language} />;
}
