import { LazyPart } from './lazy-part.ts';

/** Loaded with the first code. Not in parts.ts, because the parts listed there show code themselves. */
export const HIGHLIGHT = new LazyPart(() => import('../../state/text/highlight.ts'));
