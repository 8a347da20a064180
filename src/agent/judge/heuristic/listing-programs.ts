import { hasOption, type Program } from './programs.ts';

/** Programs that look only at names and sizes, or print what they are given. */
const LISTS = new Set(
  'ls dir vdir find fd tree stat du df test [ readlink realpath basename dirname cd pushd popd pwd echo printf tr true false : which type date sleep export local'.split(
    ' ',
  ),
);

/** Programs that filter what they get, with so many operands at most; with more, they read files. */
const FILTERS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...{ wc: 0, sort: 0, head: 0, tail: 0, uniq: 0, cut: 0, column: 0, nl: 0 },
    ...{ grep: 1, egrep: 1, awk: 1, sed: 1, jq: 1 },
  }),
);

/** Whether the program reads no contents of files. */
export const isLister = ({ name, operands, startedBy }: Program): boolean =>
  LISTS.has(name) ||
  (startedBy === undefined && operands.filter((one) => !/^\d*$/.test(one)).length <= (FILTERS.get(name) ?? -1));

const READS_FOLDERS = new Set('tar bsdtar zip 7z rsync cp scp rclone mv ln rg ag ack'.split(' '));

/** Whether the program reads everything in a folder. */
export const readsDeep = (program: Program): boolean =>
  READS_FOLDERS.has(program.name) ||
  (/^[ef]?grep$/.test(program.name) && hasOption(program, '-r', '-R', '--recursive')) ||
  program.startedBy === 'find' ||
  program.startedBy === 'xargs';
