import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { type SortedArguments, sortArguments, toOptions } from '../options.ts';
import { addEffect, addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addNameLookup, addNetwork } from '../targets.ts';

const WGET = toOptions(`
  -V -h -b -d -q -v -nv -nc -c -N -S -4 -6 -r -k -K -m -p -np -nd -nH -x -E -H -L --version --quiet --verbose --no-verbose --no-clobber --continue --timestamping --show-progress
  --no-check-certificate --spider --server-response --recursive --mirror --page-requisites --no-parent --no-directories --no-host-directories --convert-links
  --adjust-extension --span-hosts --content-disposition --trust-server-names --no-cache --no-cookies --no-hsts --no-netrc --no-proxy --background --inet4-only --inet6-only
  --keep-session-cookies --no-dns-cache --random-wait --progress --https-only --delete-after --force-directories --no-config --no-use-server-timestamps
  -t,-T,-w,-Q,-U,-l,-A,-R,-D,-I,-X,--tries,--timeout,--wait,--waitretry,--limit-rate,--user-agent,--header,--user,--password,--post-data,--method,--body-data,--level,--accept,--reject:value
  --referer,--http-user,--http-password,--dns-timeout,--connect-timeout,--read-timeout,--quota,--domains,--progress,--max-redirect,--secure-protocol,--cut-dirs,--restrict-file-names:value
  --accept-regex,--reject-regex,--exclude-directories,--include-directories,--bind-address,--prefer-family,--retry-on-http-error,--default-page:value
  --post-file,--body-file,--load-cookies,--certificate,--ca-certificate,--private-key,--ca-directory:read
  -O,-o,-a,-P,--output-document,--output-file,--append-output,--directory-prefix,--save-cookies,--warc-file,--rejected-log,--hsts-file:write
  -i,-e,-B,--input-file,--execute,--base,--config,--use-askpass:unknown
`);

function wget(call: ProgramCall): void {
  const { operands, values, given, strange } = sortArguments(dashed(call.args), WGET);
  for (const word of strange) addUnknown(call, word);
  for (const { use, word } of values) addUse(call, use, word);
  if (given.has('--version') || given.has('-V')) return;
  for (const word of operands) addUse(call, 'host', word);
  addNetwork(call); // it follows redirections
  const hasPlace = ['-O', '-P', '--output-document', '--directory-prefix'].some((name) => given.has(name));
  if (!hasPlace && !given.has('--spider')) addFolder(call, 'write');
  call.findings.addEffect({ kind: 'write', target: '~/.wget-hsts', certain: false });
}

/** wget has options of two letters behind one dash. */
const dashed = (words: readonly ShellWord[]): ShellWord[] =>
  words.flatMap((word) => (/^-n[vcpdH]$/.test(word.value ?? '') ? [] : [word]));

const SSH = toOptions(`
  -4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y
  -B,-b,-c,-D,-e,-L,-l,-m,-O,-p,-Q,-R,-W,-w:value -i:read -E:write -J:host -F,-I,-o,-P,-S:unknown
`);

/** Harmless settings of `-o`; others may name programs. */
const SSH_SETTING =
  /^(StrictHostKeyChecking|ConnectTimeout|BatchMode|UserKnownHostsFile|LogLevel|ServerAlive\w+|Port|User|PasswordAuthentication|PubkeyAuthentication|IdentitiesOnly|ForwardAgent|Compression|ConnectionAttempts|PreferredAuthentications)[= ]/i;

function addSshValues(call: ProgramCall, { values, strange }: SortedArguments): void {
  for (const word of strange) addUnknown(call, word);
  for (const { name, use, word } of values) {
    if (name === '-o' && SSH_SETTING.test(word.value ?? '')) continue;
    addUse(call, use, word);
  }
  call.findings.addEffect({ kind: 'write', target: '~/.ssh/known_hosts', certain: false });
}

/** The command runs on the other machine. */
function ssh(call: ProgramCall): void {
  const args = sortArguments(call.args, SSH, { stopsAtOperand: true });
  if (args.given.has('-V')) return;
  addSshValues(call, args);
  const [host] = args.operands;
  if (!host) return;
  addUse(call, 'host', host);
  addUnknown(call, host);
}

const SCP = toOptions('-3 -4 -6 -A -B -C -O -p -q -R -r -T -v -c,-l,-P,-X:value -i:read -J:host -F,-o,-S,-D:unknown');
const isRemote = ({ start, value }: ShellWord): boolean =>
  /^[^/]*:/.test(start) || (value === undefined && !/^[./]/.test(start));

function scp(call: ProgramCall): void {
  const args = sortArguments(call.args, SCP);
  addSshValues(call, args);
  addCopies(call, args.operands);
}

/** All operands but the last are sources; one that becomes several words, such as a{,b}, is both. */
function addCopies(call: ProgramCall, operands: readonly ShellWord[]): void {
  operands.forEach((word, index) => {
    if (isRemote(word)) addUse(call, 'host', word);
    if (/^[^/]*:/.test(word.start)) return;
    const isLast = index === operands.length - 1;
    if (!isLast || index === 0 || word.splits) addUse(call, 'read', word);
    if (isLast && (index > 0 || word.splits)) addUse(call, 'write', word);
  });
}

const RSYNC = toOptions(`
  -a -v -q -c -r -R -b -u -d -l -L -k -K -H -p -E -A -X -o -g -t -O -J -S -n -W -x -m -z -C -8 -h -P -i -y -0 -F -4 -6 --archive --verbose --quiet --checksum --recursive --relative --update --inplace --append
  --links --copy-links --perms --owner --group --times --sparse --dry-run --whole-file --one-file-system --existing --ignore-existing --ignore-errors --force --partial --progress --stats
  --human-readable --itemize-changes --compress --numeric-ids --list-only --delete --delete-before --delete-during --delete-after --delete-excluded --delay-updates --prune-empty-dirs
  --hard-links --acls --xattrs --devices --specials --executability --fuzzy --size-only --safe-links --no-motd --mkpath
  -f,-B,--exclude,--include,--filter,--max-size,--min-size,--timeout,--contimeout,--port,--bwlimit,--chmod,--chown,--modify-window,--max-delete,--info,--out-format,--suffix,--compress-level:value
  --exclude-from,--include-from,--files-from,--password-file,--compare-dest,--copy-dest,--link-dest:read --log-file,--backup-dir,--temp-dir,-T,--partial-dir,--write-batch,--only-write-batch:write
  -e,--rsh,--rsync-path,-M,--remote-option,--address,--config,--read-batch:unknown
`);

function rsync(call: ProgramCall): void {
  const { operands, values, given, strange } = sortArguments(call.args, RSYNC);
  for (const word of strange) addUnknown(call, word);
  for (const { use, word } of values) if (!isSsh(word)) addUse(call, use, word);
  addCopies(call, operands);
  if (operands.some(({ start }) => start.startsWith('rsync://'))) addNetwork(call);
  const target = operands.at(-1);
  const isDeleting = [...given].some((name) => name.startsWith('--delete'));
  if (target && operands.length > 1 && isDeleting && !/^[^/]*:/.test(target.start)) addUse(call, 'delete', target);
}

/** `-e ssh` is the default. */
const isSsh = ({ value }: ShellWord): boolean => value === 'ssh';

/** Connects to hosts; whatever else the options say is unknown. */
const connects: ProgramRule = (call) => {
  const plain = call.args.filter(({ start }) => !start.startsWith('-'));
  for (const word of plain) if (!/^\d+$/.test(word.value ?? '')) addUse(call, 'host', word);
  if (plain.every(({ value }) => /^\d+$/.test(value ?? ''))) addNetwork(call);
};

/** Listens, or runs a program for a connection. */
const netcat: ProgramRule = (call) => {
  connects(call);
  addUnknown(call);
};

const IP_CHANGES =
  'add append attach allocspi change delete deleteall exec flush replace restore set update offload'.split(' ');

/** ip shows or changes the network; its words may be abbreviated. */
function ip(call: ProgramCall): void {
  // The first word is the object, or the value of an option.
  const [, ...words] = call.args.filter(({ start }) => !start.startsWith('-'));
  for (const { value } of words)
    if (value === undefined || (value !== '' && IP_CHANGES.some((change) => change.startsWith(value))))
      addEffect(call, 'system', 'ip');
  // Commands of a file, but not `-br`, and the command of a network namespace or a VRF.
  for (const word of call.args)
    if (/^--?b(?!r)/.test(word.start) || word.isFree || /^(e|ex|exe|exec)$/.test(word.value ?? ''))
      addUnknown(call, word);
}

/** Rules of programs that use the network. */
export const TRANSFERS = toRules({
  wget,
  ssh,
  scp,
  rsync,
  ip,
  'ping ping6 dig nslookup host traceroute tracepath mtr whois drill ntpdate': connects,
  'nc ncat netcat telnet socat ftp sftp lftp gh hub glab aria2c yt-dlp': netcat,
  'ss netstat arp': (call) => {
    const isNumeric = call.args.some(({ start }) => /^-\w*n|^--numeric/.test(start));
    if (call.name === 'ss' ? call.args.some(({ start }) => /^-\w*r|^--resolve/.test(start)) : !isNumeric)
      addNameLookup(call);
    // Closing sockets, and entries of tables.
    for (const word of call.args)
      if (
        /^-\w*[KDsdf]|^--(ki|di|set|delete|file)/.test(word.start) &&
        !(call.name !== 'arp' && !/K|D|^--[kd]i/.test(word.start))
      )
        addUse(call, 'system', word);
  },
  'ssh-keygen ssh-copy-id ssh-add ssh-keyscan openssl gpg': (call) => {
    if (call.name !== 'ssh-keygen' && call.name !== 'gpg') addNetwork(call);
    addUnknown(call, call.args[0] ?? toKnownWord(''));
  },
});
