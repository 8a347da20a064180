import { isSecretPath } from '../../../tools/files/secret-path.ts';
import { dropStart, type ShellWord } from '../../reading/shell-word.ts';
import { mayBe, type SortedArguments } from '../options.ts';
import { addEffect, addUnknown, addUse, type ProgramCall, type ProgramRule, type Use } from '../program.ts';
import { toRule, toRules } from '../rows.ts';
import { addFolder, addLinks } from '../targets.ts';

const COPY_OPTIONS = `
  -a -b -d -f -i -H -l -L -n -p -P -r -R -s -u -v -x -T -Z -c -C -D --archive --backup --force --interactive --link --dereference --no-clobber --no-dereference
  --parents --recursive --symbolic-link --update --verbose --one-file-system --no-target-directory --reflink --sparse --strip-trailing-slashes --preserve
  --no-preserve --remove-destination --attributes-only --symbolic --relative --logical --physical --directory --compare --strip
  -S,-m,-g,-o,--suffix,--mode,--owner,--group:value -t,--target-directory:write
`;

/** cp, mv, ln and install: all operands but the last are sources, unless -t names the target. */
function toCopy(source: Use): ProgramRule {
  return toRule({
    options: `${COPY_OPTIONS} --no-preserve,--sparse:value`,
    also: (call, { operands, given }) => {
      const hasTarget = given.has('-t') || given.has('--target-directory');
      const target = operands.at(-1);
      for (const word of sourcesOf(operands, hasTarget)) addUse(call, source, word);
      if (!hasTarget && target) addUse(call, 'write', target);
      if (given.has('-L') || given.has('--dereference')) addLinks(call);
    },
  });
}

/** All operands, unless the last is the target. One that becomes several words, such as a{,b}, is a source, too. */
const sourcesOf = (operands: readonly ShellWord[], hasTarget: boolean): readonly ShellWord[] =>
  hasTarget || operands.at(-1)?.splits === true ? operands : operands.slice(0, -1);

/** With one operand, the link is made here. Through a link, a later command reads or changes what it leads to. */
function link(call: ProgramCall, { operands, given }: SortedArguments): void {
  const hasTarget = given.has('-t') || given.has('--target-directory');
  const target = operands.at(-1);
  const isAlone = operands.length === 1;
  const isSymbolic = given.has('-s') || given.has('--symbolic');
  const sources = isAlone ? operands : sourcesOf(operands, hasTarget);
  // The way of a symbolic link begins at its folder, so only these are known.
  for (const word of isSymbolic ? sources.filter(isElsewhere) : sources) addUse(call, 'read', word);
  if (hasTarget || target === undefined) return;
  if (!isAlone || target.splits) addUse(call, 'write', target);
  if (isAlone) addFolder(call, 'write');
}

const isElsewhere = ({ value, start }: ShellWord): boolean =>
  value === undefined || isSecretPath(value) || start.startsWith('/');

/** `install -d` makes folders. */
const install: ProgramRule = (call) => {
  if (call.args.some(({ start }) => /^-[a-zA-Z]*d/.test(start) || mayBe({ start }, ['--directory']))) FOLDERS(call);
  else toCopy('read')(call);
};
const FOLDERS = toRule({
  options: '-d -v -p --directory --verbose -m,-o,-g,--mode,--owner,--group:value',
  operands: ['write'],
});

/** `if=`, `of=` and other operands. */
function dd(call: ProgramCall): void {
  for (const word of call.args) {
    const [assigned, name] = /^(\w+)=/.exec(word.start) ?? [];
    if (assigned === undefined || word.splits) addUnknown(call, word);
    if (assigned !== undefined) addUse(call, DD_USES.get(name ?? '') ?? 'value', dropStart(word, assigned.length));
  }
}

const DD_USES = new Map<string, Use>([
  ['if', 'read'],
  ['of', 'write'],
]);

const MODE_OPTIONS =
  '-R -v -c -f -h -H -L -P --recursive --verbose --changes --silent --quiet --no-dereference --dereference --preserve-root --from:value';

/** A mode such as `-x` is no option. */
const chmod: ProgramRule = (call) => {
  const isMode = ({ value }: ShellWord) => value !== undefined && /^-[rwxXst]+$/.test(value);
  const hasMode = call.args.some(isMode);
  const row = hasMode || call.args.some((word) => mayBe(word, ['--reference'])) ? CHMOD_FILES : CHMOD;
  row({ ...call, args: call.args.filter((word) => !isMode(word)) });
};
const CHMOD = toRule({ options: `${MODE_OPTIONS} --reference:read`, operands: ['value', 'write'] });
const CHMOD_FILES = toRule({ options: `${MODE_OPTIONS} --reference:read`, operands: ['write'] });

const chown: ProgramRule = (call) => {
  addEffect(call, 'privilege', call.name);
  chmod(call);
};

const DISKS = { effects: ['system'], operands: ['write'], lenient: true } as const;

/** Rules of programs that change files and disks. */
export const CHANGES = toRules({
  'rm unlink': { lenient: true, operands: ['delete'] },
  rmdir: {
    options: '-p -v --parents --verbose --ignore-fail-on-non-empty',
    operands: ['delete'],
    also: (call, { operands, given }) => {
      if (!given.has('-p') && !given.has('--parents')) return;
      for (const { written } of operands)
        call.findings.addEffect({ kind: 'delete', target: written.replace(/\/.*/s, ''), certain: false });
    },
  },
  shred: {
    options:
      '-f -u -v -x -z --force --remove --verbose --exact --zero -n,-s,--iterations,--size:value --random-source:read',
    operands: ['write'],
    also: (call, { operands, given }) => {
      if (given.has('-u') || given.has('--remove')) for (const word of operands) addUse(call, 'delete', word);
    },
  },
  touch: {
    options: '-a -c -h -m -f --no-create --no-dereference -d,-t,--date,--time:value -r,--reference:read',
    operands: ['write'],
  },
  truncate: { options: '-c -o --no-create --io-blocks -s,--size:value -r,--reference:read', operands: ['write'] },
  mkdir: { options: '-p -v --parents --verbose -m,--mode:value -Z', operands: ['write'] },
  'mkfifo mknod': { options: '-m,--mode:value -Z', operands: ['write', 'value'] },
  mktemp: {
    options: '-d -u -q -t -V --directory --dry-run --quiet -p,--tmpdir,--suffix:value --tmpdir',
    also: (call, { operands: [template] }) =>
      call.findings.addEffect({ kind: 'write', target: template?.written ?? '/tmp', certain: false }),
  },
  fallocate: { options: '-l,-o:value -n -c -d -p -z -x -v', operands: ['write'] },
  cp: toCopy('read'),
  mv: toCopy('delete'),
  install,
  ln: { options: COPY_OPTIONS, also: link },
  'rename prename': (call) => {
    addFolder(call, 'write');
    addUnknown(call); // a perl expression, or names
  },
  dd,
  chmod,
  'chown chgrp': chown,
  'chattr setfattr setfacl setcap chcon': { effects: ['privilege'], lenient: true, operands: ['write'] },
  sync: { lenient: true },
  'mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkswap wipefs fdisk sfdisk parted losetup blkdiscard fsck e2fsck tune2fs resize2fs cryptsetup hdparm badblocks':
    DISKS,
  'swapon swapoff umount': DISKS,
  mount: (call) => {
    const [first] = call.args;
    if (first === undefined || (call.args.length === 1 && first.value === '-l')) return;
    toRule(DISKS)(call);
  },
});
