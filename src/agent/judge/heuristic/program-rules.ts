import { isSecretPath } from '../../tools/files/secret-path.ts';
import type { Finding } from '../assessment.ts';
import { CLOUD_RULES } from './cloud-rules.ts';
import { ofCode } from './inline-code.ts';
import {
  hasOption,
  isDatabase,
  isInterpreter,
  isShell,
  isUpload,
  type Program,
  valueBehind,
} from './judged-program.ts';
import { MACHINE_RULES } from './machine-rules.ts';
import { packages } from './package-rules.ts';
import { always, found, type ProgramRules } from './program-rule.ts';
import { ofGit } from './repository-rules.ts';

const REMOTE = found('remote-access', 'high', 'It works on another machine, or copies files to or from it.');

function netcat(program: Program): Finding {
  const runs =
    hasOption(program, '-e', '-c', '--exec', '--sh-exec') || program.args.some((arg) => /exec:|system:|pty/i.test(arg));
  return runs
    ? found('reverse-shell', 'critical', 'It gives another machine a shell on this one.')
    : found('remote-access', 'high', 'It opens a connection for any data.');
}

function upload(program: Program): Finding | undefined {
  if (
    program.args.some((arg) =>
      /169\.254\.169\.254|metadata\.google|100\.100\.100\.200|fd00:ec2::254|metadata\.azure/.test(arg),
    )
  )
    return found('cloud-metadata', 'critical', 'It asks for the credentials of this machine at its cloud.');
  if (isUpload(program)) return found('http-mutation', 'high', 'It sends data to another machine.');
  return found('download', 'medium', 'It connects to another machine.');
}

function shell(program: Program): Finding | undefined {
  if (hasOption(program, '-c', '--command', '-Command')) return undefined; // its code is read
  if (program.operands.some((operand) => operand.startsWith('/dev/tcp/'))) return undefined;
  return program.operands.length > 0
    ? found('interpreter-exec', 'medium', `It runs the script ${program.operands[0]}.`)
    : undefined;
}

function interpreter(program: Program): Finding | undefined {
  const code = valueBehind(program, '-c', '-e', '-r', '--eval', '-E', '-p', '--print');
  const isVersion = program.args.length === 1 && /^-(-version|v|V|-help|h)$/.test(program.args[0] ?? '');
  if (isVersion) return undefined;
  if (code !== undefined && !/^(go|java|awk|gawk)$/.test(program.name)) return ofCode(code);
  return program.operands.length > 0 && !/^(awk|gawk)$/.test(program.name)
    ? found('interpreter-exec', 'medium', `It runs the code in ${program.operands[0]}.`)
    : undefined;
}

function find(program: Program): Finding | undefined {
  const { args } = program;
  const secret = args.find(
    (arg, index) =>
      /^-i?(name|path|wholename|regex)$/.test(args[index - 1] ?? '') && isSecretPath(arg.replaceAll('*', 'x')),
  );
  if (secret !== undefined && !args.includes('-delete'))
    return found('credential-recon', 'high', `It looks for credentials: ${secret}.`);
  if (args.some((arg) => /^[-/]?\+?[0-7]*(4000|2000|6000)$|^[-/]?u[+=]s$/.test(arg)) && args.includes('-perm'))
    return found('credential-recon', 'high', 'It looks for programs that run as another user.');
  return undefined;
}

function environment({ name, operands }: Program): Finding | undefined {
  if (name === 'export' || name === 'declare') return undefined;
  return operands.length === 0
    ? found('environment-dump', 'medium', 'It prints all variables of the environment, which may hold credentials.')
    : undefined;
}

function grep({ args }: Program): Finding | undefined {
  const isSecret = args.some((arg) =>
    /(BEGIN.{0,40}PRIVATE KEY|AKIA|aws_secret|api[_-]?key.{0,200}(=|:)|password\s*[=:])/i.test(arg),
  );
  const isFar = args.some((arg) => /^(\/|~)/.test(arg));
  return isSecret && isFar
    ? found('credential-recon', 'high', 'It searches for credentials outside the working directory.')
    : undefined;
}

function history({ args }: Program): Finding | undefined {
  return args.some((arg) => /^-[cdw]/.test(arg))
    ? found('hide-traces', 'high', 'It removes traces of what was run.')
    : undefined;
}

function unset({ args }: Program): Finding | undefined {
  return args.some((arg) => /^HIST(FILE|SIZE|CONTROL)?$/.test(arg))
    ? found('hide-traces', 'high', 'It keeps what is run out of the history.')
    : undefined;
}

function openssl({ args }: Program): Finding | undefined {
  if (args.includes('s_client') || args.includes('s_server'))
    return found('remote-access', 'high', 'It opens a connection for any data.');
  return args.includes('enc') && !args.includes('-d') ? found('encrypt', 'high', 'It encrypts data.') : undefined;
}

function exportsVariables({ args }: Program): Finding | undefined {
  if (args.some((arg) => /^HIST(FILE|SIZE|CONTROL)=/.test(arg)))
    return found('hide-traces', 'high', 'It keeps what is run out of the history.');
  const name = args.find((arg) =>
    /^(LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|GIT_SSH\w*|PYTHONPATH|NODE_OPTIONS|PERL5OPT|RUBYOPT)=/.test(
      arg,
    ),
  );
  return name === undefined
    ? undefined
    : found(
        'changed-environment',
        'high',
        `It sets a variable that makes programs run other code: ${name.split('=')[0]}.`,
      );
}

const RULES: ProgramRules = {
  ...MACHINE_RULES,
  'ssh scp sftp mosh telnet rlogin rsh autossh sshpass ssh-copy-id sshfs ngrok cloudflared localtunnel lt bore frpc chisel tailscale':
    always(REMOTE),
  'rsync rclone': (program) => (program.operands.some((one) => /^[^/]+:|^rsync:/.test(one)) ? REMOTE : undefined),
  'nc ncat netcat socat': netcat,
  'curl wget wget2 http https httpie xh aria2c axel': upload,
  'sh bash zsh dash ksh fish ash': shell,
  'npm pnpm yarn bun npx pnpx bunx pip pip3 pipx uv uvx poetry conda mamba gem bundle cargo go composer apt apt-get aptitude yum dnf zypper pacman apk brew port snap flatpak dpkg rpm nix-env easy_install rustup cpan luarocks nuget dotnet':
    packages,
  git: ofGit,
  'find fd': find,
  'env printenv set': environment,
  'grep egrep fgrep rg ag ack': grep,
  history,
  unset,
  openssl,
  'export declare typeset': exportsVariables,
  'gpg gpg2': ({ args }) =>
    args.some((arg) => /secret/.test(arg)) ? found('credential-recon', 'high', 'It reads secret keys.') : undefined,
  'security secret-tool pass op bw gopass keyring lpass': always(
    found('credential-recon', 'high', 'It reads or changes stored passwords.'),
  ),
  'xclip xsel pbpaste wl-paste screencapture scrot import xwd': always(
    found('credential-recon', 'high', 'It reads the clipboard or the screen.'),
  ),
  'strace gdb ltrace ptrace gcore tcpdump tshark dumpcap': always(
    found('observe', 'high', 'It observes other programs or the network.'),
  ),
  'nmap masscan hydra john hashcat sqlmap nikto msfconsole msfvenom aircrack-ng responder': always(
    found('attack-tool', 'high', 'It is a tool for attacks.'),
  ),
  'xmrig minerd cpuminer': always(found('attack-tool', 'critical', 'It mines coins.')),
  ...CLOUD_RULES,
};

const BY_NAME = new Map(
  Object.entries(RULES).flatMap(([names, rule]) => names.split(' ').map((name) => [name, rule] as const)),
);

/** What the program means by its name and its words. */
export function* programFindings(program: Program, text: string): Generator<Finding> {
  const one = BY_NAME.get(program.name)?.(program);
  if (one) yield one;
  if (isInterpreter(program)) {
    const code = interpreter(program);
    if (code) yield code;
  }
  if (isDatabase(program)) yield* ofDatabase(text);
  if (isShell(program) && program.args.some((arg) => arg.startsWith('/dev/tcp/'))) yield REVERSE_SHELL;
  if (program.redirections.some((one) => /\/dev\/(tcp|udp)\//.test(one))) yield REVERSE_SHELL;
  if (
    /playwright|puppeteer|selenium|chromedriver/.test(`${program.name} ${program.args.join(' ')}`) &&
    /cookie|session|profile|export|storage/i.test(program.args.join(' '))
  )
    yield found('browser-data-export', 'high', 'It exports the cookies or the profile of a browser.');
}

const REVERSE_SHELL = found('reverse-shell', 'critical', 'It connects a shell or its output to another machine.');

/** Statements reach a database as arguments, from a pipe or from a here-document, so the whole command is searched. */
function* ofDatabase(text: string): Generator<Finding> {
  if (
    /\b(drop\s+(table|database|schema|user|role|index|view|collection|keyspace)|truncate\b|flushall|flushdb|dropDatabase|deleteMany\(\s*\{\s*\}|\.drop\(\s*\)|shutdown\b|dropdb)/i.test(
      text,
    )
  )
    yield found('sql-destructive', 'high', 'It deletes tables or databases.');
  else if (/\b(delete\s+from\s+[\w."`]+\s*(;|$|"|'|\))|update\s+[\w."`]+\s+set\s(?![^;]{0,2000}\bwhere\b))/i.test(text))
    yield found('sql-destructive', 'high', 'It changes all rows of a table.');
  else if (
    /\b(delete|update|insert|alter|grant|revoke|create|replace|merge|copy|load\s+data|into\s+outfile|set|del|config\s+set)\b/i.test(
      text,
    )
  )
    yield found('sql-change', 'medium', 'It changes a database.');
  else yield found('sql-query', 'medium', 'It asks a database.');
}
