import { readFileSync, writeFileSync } from 'node:fs';
import { type Command, forEachChild, parse, type Redirection, type SyntaxNode } from 'unbash';

/**
 * Selects the commands that only read, by their programs and options as their manuals describe them, and without the
 * readings that are measured with them: `node e2e/effects/corpora/select-harmless.ts < collected.tsv`. See README.md.
 */
const READERS = new Set(
  `ls cat tac head tail grep egrep fgrep rg find wc sort uniq cut tr sed awk mawk gawk git diff cmp comm join paste nl fold fmt pr
   column rev expand unexpand stat du df file tree ps pgrep jq date basename dirname realpath readlink pwd whoami id groups uname
   hostname which type whereis test [ seq expr od hexdump xxd strings md5sum sha1sum sha256sum sha512sum b2sum cksum sum
   base64 base32 numfmt shuf tsort man apropos whatis info less more free uptime w who users last lscpu lsblk nproc arch cal bc
   factor nm size objdump ldd readelf getent locale dpkg dpkg-query apt-cache xargs xzcat zcat bzcat zgrep sleep getconf dir vdir
   diff3 zcmp ptx echo printf cd true false : env`.split(/\s+/),
);
/** Programs that a command does not consist of alone. */
const AUXILIARY = /^(echo|printf|cd|true|false|:|sleep)$/;
const GIT =
  /^(status|log|show|diff|shortlog|blame|annotate|describe|rev-parse|rev-list|ls-files|ls-tree|cat-file|name-rev|for-each-ref|show-ref|merge-base|cherry|whatchanged|count-objects|check-ignore|check-attr|diff-tree|diff-index|diff-files|var|grep|version|range-diff|show-branch|patch-id)$/;
/** Other commands of git, as far as they only show something. */
const GIT_SHOWS =
  /^(branch( (-[avr]+|--list|--contains|--merged|--no-merged|--show-current)\b.*)?|tag( (-l|--list|-n\d*)\b.*)?|remote( -v| show -n.*)?|stash (list|show).*|reflog( show.*)?|config (--get(-all|-regexp)?|--list|-l|list|get)\b.*|worktree list|bisect log|notes (show|list).*)$/;
/** Options and words with which these programs write, run or connect, or which are no options. */
const WRITES: Record<string, RegExp> = {
  sed: /(^| )(-[a-zA-Z]*[if]|--in-place|--file)|[\s;}/'\d]w [\w./]|,e'?$|\/e['"]?$|\de /,
  find: / -(delete|fprint\w*|fls|ok(dir)?)\b| -exec(dir)? (?!(grep|egrep|fgrep|file|ls|cat|wc|stat|head|echo|du|md5sum|sha\d+sum|basename|readlink|test)\b)/,
  sort: / (-\w*o|--output)/,
  xargs: /xargs( -\S+( \d+)?)* (?!-|grep|egrep|ls|cat|wc|file|echo|head|tail|stat|du|sed -n|md5sum|printf|diff)/,
  awk: />|\bsystem\b|getline/,
  mawk: />|\bsystem\b|getline/,
  gawk: />|\bsystem\b|getline/,
  dpkg: /dpkg (?!-[lLsSpIc]\b|--(list|listfiles|status|search|print-\w|version|get-selections|compare-versions|contents|info))/,
  uniq: /uniq( -\S+)* [\w.]+ [\w.]+/,
  xxd: / -\w*r/,
  date: / (-s|--set)| \d{8}/,
  hostname: /hostname [\w-]+$/,
  tree: / -o /,
  git: /--output|--ext-diff|--textconv|--open-files|-O\b/,
  'apt-cache': /\bgencaches\b/,
  shuf: / -o/,
  env: /env /,
  objdump: /^$/,
};
/** Whether it is outside the folder of the work and the files of the system, or names a credential. */
const ELSEWHERE =
  /(^|[\s='":,])(~|\$HOME|\/(home|var|tmp|root|dev\/(?!null).*|proc|sys|mnt|media|srv|boot|opt|path|some|usr2|target|src|etc\/(shadow|gshadow|sudoers|exim4|postfix|ssh|ssl))\b|\/(\s|$))|\.\.\/|\.\.(\s|$)|passwd\.client|sasl_passwd|\.gitconfig|\.ssh|\.git\/config|\.netrc/;

function isSelected(command: string): boolean {
  if (ELSEWHERE.test(command) || /\$[\w{@*]|`|<<|<&/.test(command)) return false;
  const commands = commandsIn(parse(command));
  return commands.every(isReader) && commands.some(({ name }) => !AUXILIARY.test(name?.value ?? '?'));
}

function commandsIn(node: SyntaxNode): Command[] {
  const commands: Command[] = node.type === 'Command' ? [node] : [];
  forEachChild(node, (child) => void commands.push(...commandsIn(child)));
  return commands;
}

/** Whether a redirection writes a file. */
const writes = (each: Redirection): boolean =>
  each.type === 'Redirect' && /^(>|>>|&>|&>>|>\||<>)$/.test(each.operator) && each.target?.value !== '/dev/null';

function isReader({ name, args, prefix, redirects }: Command): boolean {
  const program = name?.value ?? '?';
  const words = args.map(({ text }) => text);
  if (!READERS.has(program) || WRITES[program]?.test([program, ...words].join(' ')) || redirects.some(writes))
    return false;
  if (prefix.some((each) => each.type === 'Assignment' && !/^(LC_\w+|LANG|TZ)$/.test(each.name))) return false;
  return program !== 'git' || showsOnly(words);
}

function showsOnly(words: readonly string[]): boolean {
  const at = words.findIndex((word) => !word.startsWith('-'));
  if (words.slice(0, at).some((word) => word !== '--no-pager' && word !== '-P')) return false;
  return GIT.test(words[at] ?? '') || GIT_SHOWS.test(words.slice(at).join(' '));
}

const lines = readFileSync(0, 'utf8').split('\n');
const selected = lines.filter((line) => isSelected(line.slice(line.indexOf('\t') + 1)) && line !== '');
writeFileSync(1, `${selected.join('\n')}\n`);
