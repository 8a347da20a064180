import { findFileLanguage } from '../text/languages.ts';

/** What the part of the page about files shows. */
export interface FileTarget {
  view: 'files' | 'changes';
  /** Undefined: no file. */
  path?: string | undefined;
  /** From 1. */
  line?: number | undefined;
}

const REFERENCE =
  /^(?:\.\/)?(\/?(?:[\w@+()[\]-][\w@+()[\].-]*|\.[\w-][\w.-]*)(?:\/[\w@+()[\].-]+)*)(?::(\d{1,7})(?:[:-]\d+)*|#L?(\d{1,7})(?:-L?\d+)?)?$/;
const MAX_CHARS = 400;

/**
 * The file that a piece of code names, such as `src/main.ts:12`. Undefined if it is probably something else: a name without a
 * folder counts only with an extension that the page knows.
 */
export function toFileReference(text: string): FileTarget | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const [, path, afterColon, afterHash] = REFERENCE.exec(text) ?? [];
  if (path === undefined) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const hasExtension = /[^.]\.[A-Za-z]\w{0,9}$/.test(name);
  const isKnown = hasExtension && findFileLanguage(name) !== undefined;
  if (path.split('/').includes('..') || !(isKnown || (path.includes('/') && hasExtension))) return undefined;
  const line = afterColon ?? afterHash;
  return { view: 'files', path, ...(line !== undefined && { line: Number(line) }) };
}
