import type { IncompleteReason } from '../../../../protocol/events/call-effects.ts';
import type { CommandReading } from '../../permissions/command-reading.ts';
import type { Finding } from '../assessment.ts';
import { isForkBomb } from './fork-bomb.ts';
import { hasOption, isDownloader, isInterpreter, isShell, type Program } from './judged-program.ts';

interface Whole {
  reading: CommandReading;
  programs: readonly Program[];
  text: string;
  /** What was found about its parts. */
  parts: readonly Finding[];
}

/** What the parts of a command mean together. */
export function* wholeFindings(whole: Whole): Generator<Finding> {
  const { reading, programs, text, parts } = whole;
  if (isForkBomb(text)) yield FORK_BOMB;
  yield* ofDownloads(whole);
  if (parts.some(isSecret) && programs.some(isSender))
    yield {
      rule: 'exfiltration',
      level: 'critical',
      why: 'It reads credentials and connects to another machine in one command.',
    };
  for (const { assignments } of reading.commands)
    for (const name of assignments)
      if (INJECTS.test(name))
        yield {
          rule: 'changed-environment',
          level: 'high',
          why: `It sets a variable that makes programs run other code: ${name}.`,
        };
  yield* ofGaps(whole);
}

const FORK_BOMB: Finding = {
  rule: 'disk-wipe',
  level: 'critical',
  why: 'A function starts itself again and again until the machine stops.',
};

const isSecret = ({ rule, level }: Finding): boolean =>
  (rule === 'credential-recon' && level === 'high') || rule === 'browser-data-export' || rule === 'environment-dump';

const SENDERS = new Set(
  'curl wget wget2 http https httpie xh nc ncat netcat socat ssh scp sftp rsync ftp tftp telnet dig nslookup host ping mail sendmail mutt mailx msmtp rclone s3cmd aws gsutil gh git nsupdate openssl'.split(
    ' ',
  ),
);

/** git sends only with some of its commands. */
const isSender = (program: Program): boolean =>
  program.name === 'git'
    ? program.operands.includes('push')
    : SENDERS.has(program.name) || program.redirections.some((one) => one.includes('/dev/tcp/'));

/** Variables that make programs load or run something. */
const INJECTS =
  /^(LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|GIT_SSH(_COMMAND)?|GIT_EXTERNAL_DIFF|GIT_PAGER|GIT_EDITOR|GIT_PROXY_COMMAND|GIT_CONFIG_\w+|PYTHONSTARTUP|PERL5OPT|RUBYOPT|NODE_OPTIONS)$/;

/** What is downloaded and run at once, or read by an interpreter. */
function* ofDownloads({ programs, reading }: Whole): Generator<Finding> {
  const isUnknownCode = reading.gaps.some(({ reason }) => reason === 'unknown_code');
  const runsInput = programs.some((program) => (isShell(program) || isCodeReader(program)) && readsItsInput(program));
  const isSourced = programs.some(
    ({ name, operands }) => /^(source|\.|eval)$/.test(name) && (isUnknownCode || operands[0]?.startsWith('/dev/fd/')),
  );
  if (programs.some(isDownloader)) {
    if (runsInput || isSourced || isUnknownCode)
      yield { rule: 'pipe-to-shell', level: 'critical', why: 'It runs code that it downloads.' };
    else if (programs.some(startsFile))
      yield { rule: 'download-exec', level: 'critical', why: 'It downloads a file and runs a program from a file.' };
    else if (programs.some((program) => isInterpreter(program) || program.name === 'jq'))
      yield { rule: 'content-ingestion', level: 'medium', why: 'A program reads what is downloaded.' };
  }
  if (programs.some(isDecoder) && (isUnknownCode || runsInput))
    yield { rule: 'decoded-code', level: 'critical', why: 'It decodes code and runs it.' };
}

/** Interpreters that run what they read, if they are given no code. */
const isCodeReader = (program: Program): boolean =>
  isInterpreter(program) && !/^(awk|gawk|go|java)$/.test(program.name);

const readsItsInput = ({ operands, args, name }: Program): boolean =>
  (operands.length === 0 && !args.some((arg) => /^-(-version|v|V|-help|h|m.*|c|e|E|r|p)$/.test(arg))) ||
  operands[0] === '-' ||
  /^\/dev\/(fd\/\d+|stdin)$/.test(operands[0] ?? '') ||
  (name === 'bash' && args.includes('-s'));

const startsFile = (program: Program): boolean =>
  (isShell(program) && program.operands.length > 0 && !hasOption(program, '-c')) ||
  (isCodeReader(program) && program.operands.length > 0 && !program.args.some((arg) => /^-(m|c|e)/.test(arg))) ||
  (program.name === 'chmod' && program.args.some((arg) => /\+[rwst]*x|^0?[0-7]*[1357][0-7]{0,2}$/.test(arg))) ||
  /^(source|\.)$/.test(program.name);

const isDecoder = (program: Program): boolean =>
  (/^(base64|base32|basenc|xxd|uudecode|openssl|gunzip|zcat|rev|printf)$/.test(program.name) &&
    (program.name === 'rev' ||
      program.name === 'zcat' ||
      program.name === 'gunzip' ||
      /-d|-D|-r|--decode|\\x|\\[0-7]/.test(program.args.join(' ')))) ||
  (program.name === 'tr' && program.operands.length === 2);

const GAPS: Partial<Record<IncompleteReason, Finding>> = {
  not_parsed: { rule: 'not-parsed', level: 'high', why: 'The command cannot be read, so nothing is known about it.' },
  too_long: { rule: 'not-parsed', level: 'high', why: 'The command is too long to be read.' },
  control_characters: { rule: 'hidden-text', level: 'high', why: 'The command contains control characters.' },
  unknown_program: { rule: 'hidden-program', level: 'high', why: 'Which program runs is known only when it runs.' },
  unknown_code: { rule: 'hidden-code', level: 'medium', why: 'It runs code that is not in the command.' },
  alias: { rule: 'alias', level: 'medium', why: 'It gives a program another meaning.' },
  changed_environment: {
    rule: 'changed-environment',
    level: 'medium',
    why: 'It changes variables that programs obey.',
  },
  arithmetic: { rule: 'arithmetic', level: 'medium', why: 'It calculates with values that may contain code.' },
};

function* ofGaps({ reading, programs }: Whole): Generator<Finding> {
  for (const { reason } of reading.gaps) {
    const finding = GAPS[reason];
    if (finding) yield finding;
  }
  const isEvaluated =
    programs.some(({ name }) => name === 'eval') && reading.gaps.some(({ reason }) => reason === 'unknown_code');
  if (isEvaluated)
    yield { rule: 'hidden-code', level: 'high', why: 'It evaluates text that is known only when it runs.' };
}
