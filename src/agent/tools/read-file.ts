import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.ts';
import { imageTypeOf, MAGIC_BYTES, safeFileName } from '../../content/file-kind.ts';
import { isNotebookName, parseNotebook, showNotebook } from './documents/notebook.ts';
import { isPdf, MAX_PDF_BYTES, type PdfReader, readPdf, toPageRange } from './documents/read-pdf.ts';
import { openConfined } from './files/confined-file.ts';
import type { AllowedPlace, Confinement } from './files/confinement.ts';
import { asksToRead, executeAt, prepareAt, toFileEffect, toWarnings } from './files/file-call.ts';
import { readLines } from './files/read-lines.ts';
import type { Tool, ToolOutcome, ToolRun } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';

const ReadFileArguments = z.strictObject({
  path: z.string().max(4_096).describe('Path of the file, relative to the working directory or absolute'),
  offset: z.int().min(1).default(1).describe('The first line to show; lines count from 1'),
  limit: z.int().min(1).max(2_000).default(2_000).describe('Maximum number of lines to show'),
  pages: z.string().max(20).optional().describe('Of a PDF: a page or a range such as 1-5, at most 20 pages at once'),
});
type ReadFileArguments = z.infer<typeof ReadFileArguments>;

interface ReadFileDependencies {
  confinement: Confinement;
  pdf: PdfReader;
}

/** Shows a file, and records which version the model has seen. */
export function createReadFileTool({ confinement, pdf }: ReadFileDependencies): Tool<ReadFileArguments> {
  return {
    name: 'read_file',
    description: [
      'Shows a text file with line numbers, at most 2000 lines or 64 KiB at once, less in a small context window; offset and limit show other parts.',
      'A file must have been read before edit_file can change it.',
      'Also shows images (PNG, JPEG, GIF, WebP), the text of PDFs by pages, and Jupyter notebooks by cells, which offset and limit count then.',
    ].join(' '),
    parameters: ReadFileArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare(args, context) {
      const call = { tool: 'read_file', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        if (!place.exists) throw new ToolProblem(`${place.shown}: no such file.`);
        return {
          kind: 'ready',
          subject: place.shown,
          preview: toWarnings(place),
          approvalLabel: 'read_file',
          needsApproval: asksToRead(place),
          reading: toFileEffect('read', place),
          bindTo: place.path,
          execute: (run) => executeAt(call, place, { run, work: () => show(place, { args, pdf }, run) }),
        };
      });
    },
  };
}

const MAX_READ_BYTES = 64 * 1024 * 1024;
/** It is parsed as a whole, and nothing else runs meanwhile. */
const MAX_NOTEBOOK_BYTES = 16 * 1024 * 1024;

interface Wanted {
  args: ReadFileArguments;
  pdf: PdfReader;
}

async function show(place: AllowedPlace, { args, pdf }: Wanted, run: ToolRun): Promise<ToolOutcome> {
  const { handle, stats } = await openConfined(place);
  try {
    if (stats.size > MAX_READ_BYTES) {
      throw new ToolProblem(`${place.shown} is too large to read (${stats.size} bytes); search finds parts of it.`);
    }
    const file = { handle, size: stats.size, place };
    const head = await headOf(handle);
    if (isPdf(head)) return await showPdf(file, { args, pdf }, run);
    if (args.pages !== undefined) throw new ToolProblem(`${place.shown} is not a PDF; leave pages away.`);
    const imageType = imageTypeOf(head);
    if (imageType !== undefined) return await showImage(file, imageType);
    const notebook = isNotebookName(place.path) ? await showCells(file, args, run) : undefined;
    return notebook ?? (await showLines(file, args, run));
  } finally {
    await handle.close();
  }
}

interface OpenFile {
  handle: FileHandle;
  size: number;
  place: AllowedPlace;
}

async function headOf(handle: FileHandle): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAGIC_BYTES), { position: 0 });
  return buffer.subarray(0, bytesRead);
}

async function showLines(
  { handle, size, place }: OpenFile,
  { offset, limit }: ReadFileArguments,
  { signal, maxOutputBytes: maxBytes }: ToolRun,
): Promise<ToolOutcome> {
  const read = await readLines(handle, { offset, limit, maxBytes, signal });
  if (read.kind === 'binary') throw new ToolProblem(`${place.shown} is a binary file (${size} bytes).`);
  return { output: read.text, outcome: 'done', files: { [place.path]: read.sha256 } };
}

/** The output names it; the model reads the image itself after the results of its turn, if it takes images. */
async function showImage({ handle, size, place }: OpenFile, mimeType: string): Promise<ToolOutcome> {
  if (size > LIMITS.imageBytes)
    throw new ToolProblem(
      `${place.shown} is too large an image (${size} bytes, at most ${LIMITS.imageBytes}); make a smaller copy of it.`,
    );
  const bytes = await readWhole(handle, size);
  const fileName = safeFileName(place.path, 'image');
  return {
    output: `[image ${fileName}, ${mimeType}, ${bytes.length} bytes]`,
    outcome: 'done',
    images: [{ fileName, mimeType, kind: 'image', bytes }],
  };
}

async function showPdf({ handle, size, place }: OpenFile, { args, pdf }: Wanted, run: ToolRun): Promise<ToolOutcome> {
  if (size > MAX_PDF_BYTES) throw new ToolProblem(`${place.shown} is too large to read (${size} bytes).`);
  const file = { bytes: await readWhole(handle, size), shown: place.shown, range: toPageRange(args.pages) };
  return { output: await readPdf(file, pdf, run), outcome: 'done' };
}

/** Undefined for a file that is no notebook: it is shown as text. */
async function showCells(
  { handle, size, place }: OpenFile,
  { offset, limit }: ReadFileArguments,
  { maxOutputBytes: maxBytes }: ToolRun,
): Promise<ToolOutcome | undefined> {
  if (size > MAX_NOTEBOOK_BYTES) throw new ToolProblem(`${place.shown} is too large to read (${size} bytes).`);
  const bytes = await readWhole(handle, size);
  const notebook = parseNotebook(bytes.toString('utf8'));
  if (!notebook) return undefined;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    output: showNotebook(notebook, { offset, limit, maxBytes }),
    outcome: 'done',
    files: { [place.path]: sha256 },
  };
}

/** Not more than its size at the start, as a file may grow while it is read. */
async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), { position: 0 });
  return buffer.subarray(0, bytesRead);
}
