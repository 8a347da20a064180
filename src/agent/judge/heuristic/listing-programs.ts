import { hasOption, type Program } from './judged-program.ts';

/** Programs that look only at names and sizes, or print what they are given. */
const LISTS = new Set(
  'ls dir vdir find fd tree stat du df test [ readlink realpath basename dirname cd pushd popd pwd echo printf tr true false : which type date sleep export local'.split(
    ' ',
  ),
);

/** Programs that filter what they get, with so many operands at most; with more, they read files. */
const FILTERS: ReadonlyMap<string, number> = new Map([
  ...'wc sort head tail uniq cut column nl'.split(' ').map((name): [string, number] => [name, 0]),
  ...'grep egrep awk sed jq'.split(' ').map((name): [string, number] => [name, 1]),
]);

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
