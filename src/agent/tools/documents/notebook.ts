import { stripVTControlCharacters } from 'node:util';
import { isRecord } from '../../../../protocol/is-record.ts';
import { takeHead } from '../../process/byte-ends.ts';

/** A Jupyter notebook. Everything that is not named here stays as it is. */
export interface Notebook {
  cells: NotebookCell[];
  nbformat: number;
  nbformat_minor?: number;
  [key: string]: unknown;
}

export interface NotebookCell {
  cell_type: string;
  source: string | string[];
  outputs?: unknown;
  [key: string]: unknown;
}

export const isNotebookName = (path: string): boolean => path.toLowerCase().endsWith('.ipynb');

/** Undefined for a text that is no notebook of version 4. */
export function parseNotebook(text: string): Notebook | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isNotebook(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isNotebook = (value: unknown): value is Notebook =>
  isRecord(value) && typeof value.nbformat === 'number' && Array.isArray(value.cells) && value.cells.every(isCell);

const isCell = (cell: unknown): cell is NotebookCell =>
  isRecord(cell) &&
  typeof cell.cell_type === 'string' &&
  (typeof cell.source === 'string' ||
    (Array.isArray(cell.source) && cell.source.every((line) => typeof line === 'string')));

const toSource = (source: unknown): string =>
  Array.isArray(source) ? source.join('') : typeof source === 'string' ? source : '';

/** Which cells are shown, from 1, and in how many bytes. */
interface Window {
  offset: number;
  limit: number;
  maxBytes: number;
}

/** The cells with their outputs, as text. At least one cell is shown. */
export function showNotebook({ cells }: Notebook, { offset, limit, maxBytes }: Window): string {
  if (cells.length === 0) return '[the notebook has no cells]';
  if (offset > cells.length) return `[there are only ${cells.length} cells]`;
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, cell] of cells.slice(offset - 1, offset - 1 + limit).entries()) {
    const text = showCell(cell, offset + index);
    bytes += Buffer.byteLength(text) + 2;
    if (bytes > maxBytes && shown.length > 0) break;
    shown.push(cut(text, { maxBytes, maxLines: Number.POSITIVE_INFINITY }));
  }
  const last = offset + shown.length - 1;
  const more = last < cells.length ? `; offset ${last + 1} shows the rest` : '';
  return [...shown, `[cells ${offset} to ${last} of ${cells.length}${more}]`].join('\n\n');
}

function showCell(cell: NotebookCell, number: number): string {
  const outputs = Array.isArray(cell.outputs) ? cell.outputs : [];
  const shown = outputs.slice(0, MOST_OUTPUTS).map(showOutput);
  const more = outputs.length > MOST_OUTPUTS ? [`[${outputs.length - MOST_OUTPUTS} more outputs]`] : [];
  return [`--- cell ${number}, ${cell.cell_type} ---`, toSource(cell.source), ...shown, ...more].join('\n');
}

const MOST_OUTPUTS = 10;
const OUTPUT_LIMITS = { maxBytes: 2_048, maxLines: 30 };

/** Pictures are only named. */
function showOutput(output: unknown): string {
  if (!isRecord(output)) return '[output: unknown]';
  const data = isRecord(output.data) ? output.data : {};
  const plain = toText(output) ?? toSource(data['text/plain']);
  const types = Object.keys(data).filter((type) => type !== 'text/plain');
  const head = `[output${types.length > 0 ? `: ${types.slice(0, 10).join(', ')}` : ''}]`;
  const shown = cut(stripVTControlCharacters(plain).trimEnd(), OUTPUT_LIMITS);
  return shown === '' ? head : `${head}\n${shown}`;
}

/** Undefined for an output that holds data of several types. */
function toText({ output_type: type, text, ename, evalue, traceback }: Record<string, unknown>): string | undefined {
  if (type === 'stream') return toSource(text);
  if (type !== 'error') return undefined;
  return `${ename}: ${evalue}\n${Array.isArray(traceback) ? traceback.join('\n') : ''}`;
}

function cut(text: string, limits: { maxBytes: number; maxLines: number }): string {
  const bytes = Buffer.from(text);
  const head = takeHead(bytes, limits);
  return head.length === bytes.length ? text : `${head.toString('utf8').trimEnd()}\n[cut, ${bytes.length} bytes]`;
}
