import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
export const render = (markdown: string): RenderedChunk[] => [{ html: markdown, plain: markdown }];
