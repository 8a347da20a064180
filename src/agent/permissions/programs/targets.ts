import path from 'node:path';
import type { Effect } from '../command-reading.ts';
import type { Findings } from '../reading/findings.ts';
import { escapeGlob, toPlainText } from '../reading/globs.ts';
import type { Scope } from '../reading/scope.ts';
import { type ShellWord, toKnownWord } from '../reading/shell-word.ts';

interface Place {
  scope: Scope;
  findings: Findings;
}

/** Devices whose use has no effect: what is written to them is lost or printed. */
const WITHOUT_EFFECT =
  /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)$|^\/proc\/self\/fd\/\d+$/;

/** How a path is used; `list`: only names, sizes and dates are read. */
type PathUse = 'read' | 'write' | 'delete' | 'list';

/** Adds the use of a path. `-` is the standard input or output. */
export function addPath(place: Place, use: PathUse, word: ShellWord): void {
  const { value, within } = word;
  if (within !== undefined) addWithin(place, use, { ...word, within });
  else if (value !== '' && value !== '-' && !(value !== undefined && WITHOUT_EFFECT.test(value)))
    for (const target of toTargets(word, place.scope))
      place.findings.addEffect({
        kind: use === 'list' ? 'read' : use,
        ...target,
        ...(use === 'list' && { isListing: true }),
      });
}

function addWithin(place: Place, use: PathUse, word: ShellWord & { within: readonly string[] }): void {
  if (use === 'read' && word.mayBeLink) addLinks(place, word.written);
  else for (const folder of word.within) addPath(place, use, toKnownWord(folder));
}

type Target = Pick<Effect, 'target' | 'path' | 'certain' | 'glob'>;

function toTargets({ value, written, globs }: ShellWord, scope: Scope): Target[] {
  if (value !== undefined) return [{ target: value, ...toPath(resolvePath(value, scope)) }];
  if (globs === undefined) return [{ target: written, certain: false }];
  const targets = globs.map((glob) => toGlobTarget(glob, scope));
  const [only, ...more] = targets;
  // A range such as {1..3} is shown as it is written.
  return only && more.length === 0 && !only.certain ? [{ ...only, target: written }] : targets;
}

const toPath = (resolved: string | undefined): Pick<Effect, 'path' | 'certain'> =>
  resolved === undefined ? { certain: false } : { path: resolved, certain: true };

/** Alternatives in braces are exact targets. A pattern with `..`, or whose `.*` may become it, leads anywhere. */
function toGlobTarget(glob: string, scope: Scope): Target {
  const plain = toPlainText(glob);
  if (plain !== undefined) return { target: plain, ...toPath(resolvePath(plain, scope)) };
  const target = { target: glob, certain: false };
  if (glob.split('/').some((part) => /^\.(\.$|[*?[])/.test(part))) return target;
  if (glob.startsWith('/')) return { ...target, glob };
  return scope.folder === undefined ? target : { ...target, glob: `${escapeGlob(scope.folder)}/${glob}` };
}

/**
 * The absolute path, if it is certain: `..` leads elsewhere behind a symbolic link, so it is certain only at the
 * beginning, from a folder that is no link.
 */
export function resolvePath(value: string, { folder, isRealFolder }: Scope): string | undefined {
  const parts = value.split('/').filter((part) => part !== '' && part !== '.');
  const firstName = parts.findIndex((part) => part !== '..');
  if (firstName >= 0 && parts.includes('..', firstName)) return undefined;
  if (value.startsWith('/')) return path.resolve(value);
  if (folder === undefined || (parts[0] === '..' && !isRealFolder)) return undefined;
  return path.resolve(folder, value);
}

/** Adds a change of everything in the working directory. */
export const addFolder = (place: Place, use: PathUse, folder = '.'): void => addPath(place, use, toKnownWord(folder));

/** Adds that links in a folder are followed; they lead anywhere. */
export const addLinks = ({ findings }: Pick<Place, 'findings'>, target?: string): void =>
  findings.addEffect({ kind: 'read', ...(target !== undefined && { target }), certain: false });

/** Adds a connection to the host of a URL, of `user@host:path` or of a plain name. */
export function addHost({ findings }: Pick<Place, 'findings'>, word: ShellWord): void {
  const { value, start, written } = word;
  const text = value ?? start;
  const host = toHost(text);
  // Of an unknown word, the host is certain only if something known follows it.
  const isKnown = value !== undefined || /^[a-z+]+:\/\/[^/]+\//i.test(start);
  // curl has patterns of its own, and programs disagree about backslashes.
  const isCertain =
    isKnown && !text.includes('\\') && !/[{}*?\s]/.test(host) && (!host.startsWith('[') || isBracketed(host));
  findings.addEffect({ kind: 'network', target: isCertain && host !== '' ? host : written, certain: isCertain });
}

function toHost(text: string): string {
  const [, , address = text] = /^([a-z][a-z\d+.-]*:)?\/\/([^/?#]*)/i.exec(text) ?? [];
  const host = address.slice(address.lastIndexOf('@') + 1);
  const [, bracketed, plain = host] = /^(?:(\[[^\]]*\])|([^:/]*))/.exec(host) ?? [];
  return bracketed ?? plain;
}

/** Adds a connection without a known host. */
export const addNetwork = ({ findings }: Pick<Place, 'findings'>): void =>
  findings.addEffect({ kind: 'network', certain: false });

/** Adds the cache that `man` fills beside its work. */
export const addManualCache = ({ findings }: Pick<Place, 'findings'>): void =>
  findings.addEffect({
    kind: 'write',
    target: '/var/cache/man',
    path: '/var/cache/man',
    certain: true,
    isIncidental: true,
  });

/** Adds that names of hosts are looked up for what is printed. */
export const addNameLookup = ({ findings }: Pick<Place, 'findings'>): void =>
  findings.addEffect({ kind: 'network', certain: false, isIncidental: true });

/** An IPv6 address. */
const isBracketed = (host: string): boolean => /^\[[a-f\d:.]+\]$/i.test(host) && host.includes(':');
