/** What a scan looks at. `capability` is about the tools that a skill wants, the others about its texts. */
export type ScanAxis = 'content' | 'supplyChain' | 'vulnerability' | 'capability';

/** Something in a text that makes a skill risky. */
export interface ScanRule {
  axis: Exclude<ScanAxis, 'capability'>;
  flag: string;
  /** Up to 4. */
  weight: number;
  /** Without repetitions of unlimited length, because strangers write the texts. */
  pattern: RegExp;
  /** Counts even where the text forbids it: it is written as an order to the agent. */
  isOrder?: true;
}

const content = (flag: string, weight: number, pattern: RegExp): ScanRule => ({
  axis: 'content',
  flag,
  weight,
  pattern,
  isOrder: true,
});
const supply = (flag: string, weight: number, pattern: RegExp): ScanRule => ({
  axis: 'supplyChain',
  flag,
  weight,
  pattern,
});
const vulnerable = (flag: string, weight: number, pattern: RegExp): ScanRule => ({
  axis: 'vulnerability',
  flag,
  weight,
  pattern,
});

/** A program gets what is fetched. Filters, a line end, the path of the program and `sudo` may stand in between. */
function piped(fetching: string, running: string): RegExp {
  const onward = String.raw`(?:[^\n|]|\\\r?\n)`; // a line that ends with a backslash goes on
  const filter = String.raw`(?:\|\s{0,4}(?:tee|gunzip|zcat|base64|tr|sed|xxd|openssl)\b${onward}{0,100}){0,2}`;
  const before = String.raw`(?:\s|\\\r?\n){0,20}(?:(?:sudo|env|exec|command|nohup)\b[^\n|]{0,60}\s)?(?:[\w./-]{0,40}/)?`;
  return new RegExp(String.raw`\b(?:${fetching})\b${onward}{0,300}${filter}\|${before}(?:${running})\b`, 'gi');
}

/** Known ways to make an agent do harm. They miss what is said in other words, so what a skill may do does not depend on them. */
export const SCAN_RULES: readonly ScanRule[] = [
  content(
    'overrides-instructions',
    4,
    /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|earlier|above|system|safety|other)\s+(?:instructions?|prompts?|rules|messages?|guidelines)\b/gi,
  ),
  content(
    'hides-from-person',
    4,
    /\b(?:do\s+not|don't|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?(?:\s+\w{1,20}){0,3}\s+to|show(?:ing)?(?:\s+\w{1,20}){0,3}\s+to|ask(?:ing)?|alert(?:ing)?|notify(?:ing)?)\s+(?:this\s+to\s+)?(?:the\s+)?(?:users?|person|human|owner)\b/gi,
  ),
  content(
    'skips-approval',
    3,
    /\b(?:auto-?approve|bypass|skip|avoid|disable)\s+(?:all\s+|any\s+|the\s+)?(?:approvals?|permissions?|confirmations?|safety|sandbox(?:ing)?|guard(?:rails)?)\b/gi,
  ),
  content(
    'takes-a-role',
    3,
    /\b(?:you\s+are\s+now|act\s+as\s+(?:root|admin|an?\s+unrestricted)|developer\s+mode|jailbreak)\b/gi,
  ),
  content(
    'invisible-text',
    4,
    /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\uffa0\u{e0000}-\u{e01ef}]|[\ufe00-\ufe0f]{2}/gu,
  ),
  content('hidden-comment', 2, /<!--(?=[^>]{0,400}\b(?:run|execute|send|curl|upload|ignore|must|always)\b)/gi),
  content('daemon-tags', 3, /<\/?(?:environment|system|tool_result|function_results?)\b/gi),
  content(
    'sends-data-out',
    4,
    /\b(?:send|post|upload|exfiltrate|forward|transmit|report)\b[^\n]{0,80}\b(?:secrets?|tokens?|credentials?|keys?|passwords?|environment|\.env|history|conversation)\b[^\n]{0,80}\b(?:https?:|to\s+(?:our|the|this|my)\s+(?:server|endpoint|webhook|url))/gi,
  ),
  {
    axis: 'content',
    flag: 'reads-credentials',
    weight: 3,
    pattern:
      /(?:~|\$HOME|\/root|\/home\/[\w-]{1,40})\/\.(?:ssh|aws|gnupg|kube|netrc|config\/gcloud|docker\/config\.json)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/shadow\b/gi,
  },
  supply('pipes-to-shell', 4, piped('curl|wget|fetch|iwr|irm', '(?:ba|z|da|k)?sh')),
  supply('pipes-to-shell', 4, /\b(?:ba|z)?sh\s{1,4}(?:-c\s{1,4})?["']?[<$]\(\s{0,4}(?:curl|wget)\b/gi),
  supply('pipes-to-interpreter', 4, piped('curl|wget', 'python3?|node|perl|ruby|php')),
  supply('pipes-to-interpreter', 4, /\b(?:iex|Invoke-Expression)\b/gi),
  supply(
    'encoded-command',
    4,
    /\bbase64\s{1,4}(?:-d|-D|--decode)\b[^\n|]{0,200}\|\s{0,4}(?:ba|z)?sh\b|\batob\s{0,4}\(/g,
  ),
  supply('encoded-text', 2, /\b[A-Za-z0-9+/]{200}/g),
  supply(
    'installs-packages',
    1,
    /\b(?:pip3?|uv\s+pip|gem|cargo|go|brew|apt(?:-get)?|yum|dnf)\s{1,4}install\b|\bnpm\s{1,4}(?:i|install)\s{1,4}[^\s-]|\bnpx\s{1,4}(?:-y|--yes)\b|\buvx\b/gi,
  ),
  supply('address-by-number', 3, /\bhttps?:\/\/(?:\d{1,3}\.){3}\d{1,3}\b|\bhttps?:\/\/\[/gi),
  supply('shortened-address', 2, /\bhttps?:\/\/(?:bit\.ly|t\.co|tinyurl\.com|goo\.gl|is\.gd|cutt\.ly|rb\.gy)\//gi),
  supply(
    'collector',
    4,
    /\bhttps?:\/\/(?:[\w-]{1,60}\.){0,3}(?:webhook\.site|requestbin\.(?:com|net)|pipedream\.net|ngrok(?:-free)?\.(?:io|app)|burpcollaborator\.net|oast\.\w{2,6}|interact\.sh|transfer\.sh)\b/gi,
  ),
  supply('unencrypted-address', 1, /\bhttp:\/\/(?!localhost\b|127\.)[a-z0-9]/gi),
  vulnerable(
    'deletes-everything',
    4,
    /\brm\s{1,4}-(?:[a-z]{0,5}r[a-z]{0,5}f|[a-z]{0,5}f[a-z]{0,5}r)[a-z]{0,5}\s{1,4}(?:--no-preserve-root\s{1,4})?["']?(?:\/|~|\$HOME)(?:["'\s*]|$)/gim,
  ),
  vulnerable('becomes-root', 2, /\bsudo\s{1,4}\S|\bsu\s{1,4}-(?:\s|$)/gim),
  vulnerable('opens-files', 1.5, /\bchmod\s{1,4}(?:-R\s{1,4})?(?:0?777|a\+rwx)\b/gi),
  vulnerable(
    'runs-text',
    2,
    /\beval\s{0,2}[("'$]|\bexec\s{0,2}\(|\bshell\s{0,2}=\s{0,2}True\b|\bos\.system\s{0,2}\(|\bchild_process\b/g,
  ),
  vulnerable(
    'no-verification',
    1.5,
    /--no-verify\b|--insecure\b|\bverify\s{0,2}=\s{0,2}False\b|NODE_TLS_REJECT_UNAUTHORIZED|\bcurl\s[^\n]{0,80}\s-k\b/g,
  ),
  vulnerable('switches-off-safety', 3, /--dangerously[\w-]{1,40}|--yolo\b|\bskip[-_]permissions\b|--no-sandbox\b/gi),
  vulnerable(
    'stays-behind',
    3,
    /\bcrontab\s{1,4}-|\/etc\/(?:cron|systemd|profile|rc)\b|\bsystemctl\s{1,4}enable\b|>>\s{0,4}~\/\.(?:bash|zsh|prof)|\blaunchctl\s{1,4}load\b|authorized_keys\b/gi,
  ),
  vulnerable('reverse-shell', 4, /\/dev\/tcp\/|\bn(?:c|cat)\s[^\n]{0,60}\s-e\b|\bmkfifo\b[^\n]{0,120}\bnc\b/gi),
  vulnerable(
    'secret-in-text',
    2,
    /\b(?:sk-[A-Za-z0-9_-]{20}|gh[pousr]_[A-Za-z0-9]{30}|AKIA[0-9A-Z]{16}|xox[abps]-[A-Za-z0-9-]{10})|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----/g,
  ),
];

/** Addresses below these names are usual in instructions for programmers. */
const TRUSTED_SITES = [
  ...['github.com', 'githubusercontent.com', 'gitlab.com', 'npmjs.com', 'npmjs.org', 'pypi.org', 'python.org'],
  ...[
    'nodejs.org',
    'mozilla.org',
    'w3.org',
    'ietf.org',
    'rfc-editor.org',
    'wikipedia.org',
    'microsoft.com',
    'google.com',
  ],
  ...['anthropic.com', 'openai.com', 'agentskills.io', 'skills.sh', 'docker.com', 'kubernetes.io', 'readthedocs.io'],
  ...['rust-lang.org', 'crates.io', 'docs.rs', 'golang.org', 'go.dev', 'apache.org', 'debian.org', 'example.com'],
];

/** Only the end of a name counts: `github.com.evil.org` belongs to evil.org. */
export const isTrustedSite = (host: string): boolean => {
  const name = host.toLowerCase().replace(/\.$/, '');
  return TRUSTED_SITES.some((site) => name === site || name.endsWith(`.${site}`));
};
