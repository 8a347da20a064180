import { BETWEEN_LETTERS, hasBetweenLetters } from './between-letters.ts';
import type { OutputFlag } from './output-assessment.ts';
import { StartFinder } from './start-finder.ts';

interface Check {
  flags: readonly OutputFlag[];
  /** One of these begins every match. The case of letters does not count. */
  starts: readonly string[];
  /** Sticky. */
  pattern: RegExp;
}

/*
 * Every pattern takes linear time: it has no unbounded repetition that could begin at many places, or the repetition
 * has an upper bound.
 */
const check = (starts: readonly string[], pattern: RegExp, ...flags: OutputFlag[]): Check => ({
  flags,
  starts,
  pattern: new RegExp(pattern, `${pattern.flags}y`),
});

/** "Ignore" or a synonym, "previous" or "all", and "instructions", in languages of Europe, in the order of each. */
const IN_OTHER_LANGUAGES: readonly Check[] = [
  // German, Dutch, Swedish, Danish, Norwegian
  check(
    ['ignorier', 'vergiss', 'vergesst', 'missachte', 'negeer', 'vergeet', 'ignorera', 'glöm', 'ignorer', 'glem'],
    /\b(?:ignorier|vergiss|vergesst|missachte|negeer|vergeet|ignorera|glöm|ignorer|glem)\p{L}{0,3}\b[^.]{0,32}(?:bisherig|vorherig|vorig|obig|früher|all|dein|eerder|bovenstaand|tidigare|föregående|tidligere|forrige)\p{L}{0,4}\b[^.]{0,24}(?:anweisung|befehl|regel|vorgabe|instru[ck]t|opdracht|anvisning)/iu,
    'prompt_injection',
  ),
  // French, Spanish, Portuguese, Italian
  check(
    ['ignor', 'oubli', 'olvid', 'esque', 'dimentic', 'desconsider', 'haz caso omiso', 'ne tenez', 'ne tiens'],
    /\b(?:ignor|oubli|olvid|esque[cç]|dimentic|desconsider|haz caso omiso|ne tenez|ne tiens)\p{L}{0,4}\b[^.]{0,40}(?:instruc|instruç|istruzion|consigne|directive|directri|diretri|orden|comandi|reglas|regras|regole)\p{L}{0,6}[^.]{0,24}(?:préc[eé]dent|antérieur|anterior|previ|prévi|precedent)/iu,
    'prompt_injection',
  ),
  check(
    ['ignor', 'oubli', 'olvid', 'esque', 'dimentic', 'desconsider'],
    /\b(?:ignor|oubli|olvid|esque[cç]|dimentic|desconsider)\p{L}{0,4}\b[^.]{0,40}(?:préc[eé]dent|antérieur|anterior|previ|prévi|precedent|tout|tod|tutt)\p{L}{0,4}\b[^.]{0,24}(?:instruc|instruç|istruzion|consigne|directive|directri|diretri|orden|comandi|reglas|regras|regole)/iu,
    'prompt_injection',
  ),
  // Polish, Czech
  check(
    ['zignoruj', 'ignoruj', 'zapomnij', 'zapomeň', 'pomiń'],
    /(?:zignoruj|ignoruj|zapomnij|zapomeň|pomiń)\p{L}{0,3}[^.]{0,40}(?:instrukcj|polece|zasad|pokyn|instrukc)/iu,
    'prompt_injection',
  ),
];

/** The same in languages with other letters. */
const IN_OTHER_SCRIPTS: readonly RegExp[] = [
  // Turkish, Russian and Ukrainian, Chinese, Japanese, Korean, Arabic, Hindi
  /(?:önceki|yukarıdaki|tüm)[^.]{0,40}(?:talimat|komut|yönerge|kural)\p{L}{0,10}[^.]{0,24}(?:yok say|görmezden|unut|dikkate alma)/iu,
  /(?:игнориру|проигнориру|забуд|ігнору|не обращай внимания)\p{L}{0,4}[^.]{0,40}(?:инструкц|указани|команд|правил|інструкц|вказівк)/iu,
  /(?:忽略|无视|無視|忘记|忘記|不要理会)[^。]{0,16}(?:指令|指示|提示|规则|規則|要求)/u,
  /(?:指示|命令|プロンプト|ルール)[^。]{0,12}(?:無視|忘れ|従わない)/u,
  /(?:지시|명령|지침|규칙|프롬프트)[^.]{0,12}(?:무시|잊)/u,
  /(?:تجاهل|انس)[^.]{0,24}(?:التعليمات|الأوامر|التوجيهات)/u,
  /(?:निर्देश|आदेश)[^।]{0,24}(?:अनदेखा|नज़रअंदाज़|भूल)/u,
];
const OTHER_SCRIPTS =
  /[\u011e\u011f\u0130\u0131\u015e\u015f\u0400-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

const INJECTION: readonly Check[] = [
  check(
    ['ignore', 'disregard', 'forget', 'override', 'bypass'],
    /\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,24}\b(?:previous|prior|above|earlier|preceding|all|any|your|the system)\b[^.]{0,24}\b(?:instruction|prompt|direction|rule|guideline|context|command)s?\b/i,
    'prompt_injection',
  ),
  ...IN_OTHER_LANGUAGES,
  check(
    ['set aside', 'stop following', 'do not follow', 'pay no attention'],
    /\b(?:set aside|stop following|do not follow|pay no attention to) (?:what(?:ever)? you were|your|the|any|all) (?:asked|told|instructed|(?:previous |prior |original )?(?:instructions?|task|rules|orders))\b/i,
    'prompt_injection',
  ),
  check(
    ['you are ', 'new ', 'updated ', 'real ', 'actual ', 'du bist ', 'to the '],
    /\byou are (?:now (?:a|an|in|the|no longer|acting|operating|free|DAN|my)|no longer (?:a|an|the) (?:AI|assistant|language model|chatbot))\b|\bdu bist (?:jetzt|nun|ab jetzt) (?:ein|kein)|\bto the (?:AI|language model|LLM|assistant) (?:processing|reading|summari[sz]ing|that reads) this\b|\b(?:new|updated|real|actual) (?:system )?instructions?(?: for (?:you|the (?:ai|model|assistant|agent)))? ?:/i,
    'prompt_injection',
  ),
  check(
    [
      'AI ',
      'AI,',
      'AI:',
      'AI;',
      'AI-',
      'AI/',
      'AI(',
      'AI)',
      'AI"',
      'AI*',
      'AIs ',
      'AIs,',
      'assistant',
      'agent',
      'model',
      'llm',
      'claude',
      'gpt',
      'chatbot',
    ],
    /\b(?:AI|assistant|agent|model|LLM|claude|gpt|chatbot)s?\b[^.\n]{0,40}\b(?:must|should|need to|have to|please)\b[^.\n]{0,40}\b(?:now|immediately|first|instead|also|before)\b[^.\n]{0,20}\b(?:run|execute|send|forward|post|upload|share|delete|fetch|curl|open|read|reveal|print)\b/i,
    'prompt_injection',
  ),
  check(
    [
      '"role',
      "'role",
      '<sys',
      '</sys',
      '<assistant',
      '</assistant',
      '<user',
      '</user',
      '<human',
      '</human',
      '<|im',
      '<|sys',
      '<|assis',
      '<|start',
      '<|end',
      'system:',
      'assistant:',
      'human:',
    ],
    /["']role["']\s{0,4}:\s{0,4}["'](?:system|assistant|developer)["']\s{0,4},\s{0,4}["']content["']|<\/?(?:system|assistant)>\s|<\/?(?:system|assistant|user|human)[-_](?:message|prompt|instructions?|reminder|response|turn)>|<\|(?:im_start|im_end|system|assistant|start_header_id|endoftext)\|>|(?<=^\s{0,4}(?:###\s{0,2})?)(?:System|Assistant|Human):\s/im,
    'role_injection',
    'prompt_injection',
  ),
  check(
    [
      'mandatory',
      'override',
      'system override',
      'important instruction',
      '[system]',
      '[inst]',
      '[/inst]',
      '<<sys>>',
      'system prompt',
    ],
    /(?<=^[^\w\n]{0,4})(?:MANDATORY|OVERRIDE|SYSTEM OVERRIDE|IMPORTANT INSTRUCTIONS?)\s{0,2}:|\[(?:SYSTEM|INST|\/INST)\]|<<SYS>>|\bsystem prompt\s{0,2}:/m,
    'instruction_override',
    'prompt_injection',
  ),
  check(
    ['pretend ', 'from now on', 'i am your', 'do not ', "don't ", 'never '],
    /\bpretend (?:that )?(?:you are|to be)\b|\bfrom now on,? you (?:must|will|are|should)\b|\bI am your (?:admin|administrator|developer|creator|owner|operator)\b|\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|alert) the user\b/i,
    'meta_injection',
    'prompt_injection',
  ),
];

const PAYLOADS: readonly Check[] = [
  check(
    ['data:'],
    /data:(?:text\/html|(?:text|application)\/(?:x-)?(?:java|ecma)script|image\/svg\+xml)[;,][^\s]{0,64}(?:base64,PHNj|%3Cscript|<script|base64,[A-Za-z0-9+/]{24})/i,
    'script_data_uri',
  ),
  check(
    [...'0123456789abcdef'].map((digit) => `\\x${digit}`),
    /(?:\\x[0-9a-f]{2}){10}/i,
    'hex_shellcode',
  ),
  check(
    ['eval', 'exec', 'base64 ', 'b64decode', 'atob', 'frombase64string', '-enc'],
    /(?:\b(?:eval|exec|base64 (?:-d|--decode|-D)|b64decode|atob|FromBase64String)|(?<!\w)-enc(?:odedcommand)?)\b[^\n]{0,80}?[A-Za-z0-9+/]{200}/i,
    'encoded_payload',
  ),
  check(
    ['|base64', '| base64', '|  base64', '|openssl', '| openssl', '|  openssl'],
    /(?<=[A-Za-z0-9+/]{200}={0,2}[^\n|]{0,40})\|\s{0,4}(?:base64|openssl)[^\n|]{0,40}\|\s{0,4}(?:ba|z|da)?sh\b/i,
    'encoded_payload',
  ),
];

const ADDRESSES: readonly Check[] = [
  check(
    ['http'],
    /\bhttps?:\/\/[^\s"'<>?]{1,512}\?(?:[^\s"'<>]{0,512}&)?(?:api_?key|access_?token|auth_?token|token|secret|client_secret|password|passwd|sig|signature|x-amz-signature)=(?![$<{*%[]|(?:your|xxx|example|token|secret|\.\.\.))[^\s"'<>&]{8}/i,
    'url_credential_param',
  ),
  check(
    ['169.254.169.254', 'metadata.google.internal', '100.100.100.200', 'fd00:ec2'],
    /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\b100\.100\.100\.200\b|fd00:ec2::254\b/i,
    'cloud_metadata_access',
  ),
  check(
    ['](http'],
    /\]\(https?:\/\/[^\s)]{1,512}[?&][\w.-]{1,32}=(?:DATA\b|SECRET|API_?KEY|TOKEN|PASSWORD|\{(?:all|the|your|user))/,
    'markdown_exfiltration',
  ),
  check(
    ['](http'],
    /(?<=!\[[^\][\n]{0,200})\]\(https?:\/\/[^\s)]{1,512}[?&/](?:[\w.-]{1,32}=)?(?:\{|%7B|\$|<|\[|DATA\b|SECRET|[A-Za-z0-9+/_-]{48})/i,
    'markdown_exfiltration',
  ),
];

const DISCLOSURES: readonly Check[] = [
  check(
    ['10.', '192.168.', '172.'],
    /(?<![\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?!\d|\.\d)/,
    'private_ip_disclosure',
  ),
  check(
    ['arn:aws', '.iam.gserviceaccount.com', '/subscriptions/'],
    /\barn:aws[\w-]{0,10}:[\w-]{1,32}:[\w-]{0,20}:\d{12}:|\.iam\.gserviceaccount\.com\b|\/subscriptions\/[0-9a-f]{8}-[0-9a-f]{4}-/i,
    'cloud_identity_disclosure',
  ),
  check(
    ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '~/.', '/home/', '/root/.', '/Users/'],
    /\/etc\/(?:shadow|gshadow|sudoers)\b|(?:~|\/(?:home\/[\w.-]{1,32}|root|Users\/[\w.-]{1,32}))\/\.(?:ssh\/(?:id_\w{1,16}|authorized_keys)|aws\/credentials|netrc|pgpass|kube\/config|docker\/config\.json|gnupg\/)/,
    'sensitive_path_disclosure',
  ),
];

/** Credentials are found by the redactor. */
const CHECKS: readonly Check[] = [...INJECTION, ...PAYLOADS, ...ADDRESSES, ...DISCLOSURES];

const STARTS = new StartFinder(
  CHECKS.flatMap((each) => each.starts.map((start) => [start, each] as const)),
  { ignoresCase: true },
);

/** Letters of Cyrillic that look like Latin ones, within words that have both. */
const LOOK_ALIKES = new Map(
  [...'аеорсухіјѕԁһАВЕКМНОРСТХ'].map((letter, at) => [letter, 'aeopcyxijsdhABEKMHOPCTX'[at]]),
);
const MIXED = /[a-z]\p{Script=Cyrillic}|\p{Script=Cyrillic}[a-z]/iu;

/** What a text contains besides secrets. `isLate` ends the search early. */
export function findFlags(shown: string, isLate: () => boolean): Set<OutputFlag> {
  const found = new Set<OutputFlag>();
  // As a model reads it: without colours and hidden characters between the letters.
  const plain = hasBetweenLetters(shown) ? shown.replace(BETWEEN_LETTERS, '') : shown;
  const text = OTHER_SCRIPTS.test(plain) ? inOtherScripts(plain, found) : plain;
  STARTS.each(text, 0, (at, { pattern, flags }) => {
    if (flags.every((flag) => found.has(flag))) return;
    pattern.lastIndex = at;
    if (pattern.test(text)) for (const flag of flags) found.add(flag);
  });
  return isLate() ? found.add('guard_failed') : found;
}

/** Looks for other scripts; returns the text with the letters of words that only look Latin. */
function inOtherScripts(text: string, found: Set<OutputFlag>): string {
  if (IN_OTHER_SCRIPTS.some((pattern) => pattern.test(text))) found.add('prompt_injection');
  if (!MIXED.test(text)) return text;
  return text.replace(/\p{Script=Cyrillic}/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter);
}
