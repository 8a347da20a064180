import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import type { ReadCommand } from '../../permissions/command-reading.ts';

/** A simple command with what its words say, as far as they are known. */
export interface Program {
  /** Without folders and version; empty if it is not known. */
  name: string;
  /** The arguments; of those that are not known completely, what is written. */
  args: readonly string[];
  /** Of `args`: those that are no options. */
  operands: readonly string[];
  startedBy: string | undefined;
  /** Targets of its redirections, as far as they are known. */
  redirections: readonly string[];
}

const VERSIONED = /^(python|perl|ruby|lua|php|node|pip)[\d.]+$/;

/** Reads a command of a reading. */
export function toProgram({ words, startedBy, redirections }: ReadCommand): Program {
  const [first, ...rest] = words;
  const full = first?.value ?? '';
  const base = full.slice(full.lastIndexOf('/') + 1);
  const args = rest.map(({ value, written }) => value ?? written);
  return {
    name: VERSIONED.test(base) ? trimEndOf(base, '0123456789.') : base,
    args,
    operands: args.filter((arg) => !arg.startsWith('-') || arg === '-'),
    startedBy,
    redirections: redirections.map(({ operator, target }) => `${operator}${target?.value ?? target?.written ?? ''}`),
  };
}

/** Whether one of the options is given: `-f` also in `-rf`, `--force` also as `--force=x`. */
export const hasOption = ({ args }: Pick<Program, 'args'>, ...options: readonly string[]): boolean =>
  args.some((arg) => options.some((option) => isOption(arg, option)));

function isOption(arg: string, option: string): boolean {
  if (arg === option) return true;
  if (option.startsWith('--')) return arg.startsWith(`${option}=`);
  if (option.length !== 2) return false;
  return arg.startsWith(option) || (/^-[A-Za-z\d]+$/.test(arg) && arg.includes(option.slice(1)));
}

/** The value of an option, as its own word or after `=`. */
export function valueBehind({ args }: Pick<Program, 'args'>, ...options: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    const option = options.find((one) => arg === one || arg.startsWith(one.length === 2 ? one : `${one}=`));
    if (option === undefined) continue;
    return arg === option ? args[index + 1] : arg.slice(option.length).replace(/^=/, '');
  }
  return undefined;
}

const DOWNLOADERS = new Set('curl wget aria2c axel fetch http https lynx w3m httpie xh wget2 ftp tftp'.split(' '));
const SHELLS = new Set('sh bash zsh dash ksh fish ash busybox csh tcsh pwsh'.split(' '));
const INTERPRETERS = new Set(
  'python perl ruby node php lua deno bun tsx ts-node osascript Rscript groovy java go awk gawk tclsh expect powershell'.split(
    ' ',
  ),
);
const DATABASES = new Set(
  'psql mysql mariadb sqlite3 sqlcmd mongo mongosh redis-cli cqlsh clickhouse-client duckdb mysqladmin usql sqlplus bq influx cockroach'.split(
    ' ',
  ),
);

export const isDownloader = ({ name }: Program): boolean => DOWNLOADERS.has(name);
export const isShell = ({ name }: Program): boolean => SHELLS.has(name);
export const isInterpreter = ({ name }: Program): boolean => INTERPRETERS.has(name);
export const isDatabase = ({ name }: Program): boolean => DATABASES.has(name);

/** Whether a download only prints what it gets, or stores it. */
export const isUpload = (program: Program): boolean => {
  const { name, args } = program;
  if (name === 'curl')
    return (
      hasOption(
        program,
        '-d',
        '-F',
        '-T',
        '--data',
        '--data-binary',
        '--data-raw',
        '--data-urlencode',
        '--data-ascii',
        '--form',
        '--form-string',
        '--upload-file',
        '--json',
        '--url-query',
      ) || isMutation(valueBehind(program, '-X', '--request'))
    );
  if (name === 'wget' || name === 'wget2')
    return (
      hasOption(program, '--post-data', '--post-file', '--body-data', '--body-file') ||
      isMutation(valueBehind(program, '--method'))
    );
  if (/^(http|https|httpie|xh)$/.test(name))
    return args.some((arg) => isMutation(arg) || /^[\w.-]+(:=@|=@|:=|=|@)/.test(arg));
  return false;
};

const isMutation = (method: string | undefined): boolean => /^(POST|PUT|DELETE|PATCH)$/i.test(method ?? '');
