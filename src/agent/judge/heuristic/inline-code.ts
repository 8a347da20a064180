import type { Finding } from '../assessment.ts';

const NETWORK =
  /\b(socket|urllib|requests|http\.client|httplib|fetch\(|https?\.(get|request)|net\.(connect|createConnection|Socket)|Net::HTTP|LWP|IO::Socket|TCPSocket|fsockopen|curl_init|XMLHttpRequest|urlopen|paramiko|ftplib|smtplib|dgram|dns\.)/;
const PROCESSES =
  /\b(os\.(system|popen|exec\w*|spawn\w*|fork|kill)|subprocess|child_process|execSync|spawnSync|pty\.spawn|Kernel\.|system\s*\(|popen|shell_exec|passthru|proc_open|IO\.popen|qx[{/(]|exec\s*\()|\bsystem\s+["']|`[^`]+`|dup2|\/bin\/(ba)?sh/;
const DELETION =
  /\b(rmtree|unlink|rmdir|os\.remove|rmSync|rm_rf|FileUtils\.rm|File\.delete|shutil\.move|fs\.rm|truncate|remove_tree)\b/;
const VITAL = /["'](\/|~|\/(etc|usr|home|var)\b[^"']*)["']|expanduser|homedir|HOME/;
const SECRETS =
  /(\.ssh|id_rsa|\.aws|\.env\b|os\.environ|process\.env|%ENV|ENV\[|getenv|\/etc\/(passwd|shadow)|credentials|keychain|cookies)/i;
const DECODED =
  /\b(b64decode|base64|atob|fromCharCode|unhexlify|decode64|unpack\s*\(|marshal|zlib\.decompress|Buffer\.from\([^)]{0,2000}(hex|base64)|Buffer\.from\([^)]{2000})/;
const RUN = /\b(exec|eval|compile|Function|instance_eval|runInThisContext)\s*[(]/;

/** All patterns of a rule have to match. */
const toRule = (rule: string, level: Finding['level'], { all, why }: { all: readonly RegExp[]; why: string }) => ({
  rule,
  level,
  all,
  why,
});

const RULES = [
  toRule('reverse-shell', 'critical', {
    all: [NETWORK, PROCESSES],
    why: 'Its code connects to another machine and starts programs.',
  }),
  toRule('decoded-code', 'critical', { all: [DECODED, RUN], why: 'Its code decodes other code and runs it.' }),
  toRule('decoded-code', 'critical', { all: [DECODED, PROCESSES], why: 'Its code decodes commands and runs them.' }),
  toRule('exfiltration', 'critical', {
    all: [NETWORK, SECRETS],
    why: 'Its code reads credentials and connects to another machine.',
  }),
  toRule('pipe-to-shell', 'critical', { all: [NETWORK, RUN], why: 'Its code runs what it downloads.' }),
  toRule('rm-root', 'critical', { all: [DELETION, VITAL], why: 'Its code deletes folders of the system or the home.' }),
  toRule('inline-code', 'high', { all: [NETWORK], why: 'Its code connects to other machines.' }),
  toRule('inline-code', 'high', { all: [PROCESSES], why: 'Its code starts other programs.' }),
  toRule('inline-code', 'high', { all: [DELETION], why: 'Its code deletes files.' }),
  toRule('credential-recon', 'high', { all: [SECRETS], why: 'Its code reads credentials.' }),
  toRule('inline-code', 'medium', { all: [], why: 'It runs code that is not read here.' }),
];

/** What code that is given to an interpreter means. Its language is not read, so the words in it only raise the level. */
export function ofCode(code: string): Finding | undefined {
  const found = RULES.find(({ all }) => all.every((pattern) => pattern.test(code)));
  return found && { rule: found.rule, level: found.level, why: found.why };
}
