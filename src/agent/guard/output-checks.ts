import type { OutputFlag } from './output-assessment.ts';

interface Check {
  flags: readonly OutputFlag[];
  pattern: RegExp;
}

/*
 * Every pattern takes linear time: it has no unbounded repetition that could begin at many places, or the repetition
 * has an upper bound.
 */
const check = (pattern: RegExp, ...flags: OutputFlag[]): Check => ({ flags, pattern });

const INJECTION: readonly Check[] = [
  check(
    /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,24}\b(?:previous|prior|above|earlier|preceding|all|any|your|the system)\b[^.\n]{0,24}\b(?:instruction|prompt|direction|rule|guideline|context|command)s?\b/i,
    'prompt_injection',
  ),
  check(
    /\byou are now (?:a|an|in|the|no longer|acting|operating|free|DAN|my)\b|\b(?:new|updated|real|actual) (?:system )?instructions?(?: for (?:you|the (?:ai|model|assistant|agent)))? ?:/i,
    'prompt_injection',
  ),
  check(
    /\b(?:AI|assistant|agent|model|LLM|claude|gpt|chatbot)s?\b[^.\n]{0,40}\b(?:must|should|need to|have to|please)\b[^.\n]{0,20}\b(?:now|immediately|first|instead|also)\b[^.\n]{0,20}\b(?:run|execute|send|post|upload|delete|fetch|curl|read|reveal|print)\b/i,
    'prompt_injection',
  ),
  check(
    /["']role["']\s{0,4}:\s{0,4}["'](?:system|assistant|developer)["']\s{0,4},\s{0,4}["']content["']|<\/?(?:system|assistant)(?:[-_](?:message|prompt|instructions?))?>\s|<\|(?:im_start|im_end|system|assistant|start_header_id|endoftext)\|>|^\s{0,4}(?:###\s{0,2})?(?:System|Assistant|Human):\s/im,
    'role_injection',
    'prompt_injection',
  ),
  check(
    /^[^\w\n]{0,4}(?:MANDATORY|OVERRIDE|SYSTEM OVERRIDE|IMPORTANT INSTRUCTIONS?)\s{0,2}:|\[(?:SYSTEM|INST|\/INST)\]|<<SYS>>|\bsystem prompt\s{0,2}:/m,
    'instruction_override',
    'prompt_injection',
  ),
  check(
    /\bpretend (?:that )?(?:you are|to be)\b|\bfrom now on,? you (?:must|will|are|should)\b|\bI am your (?:admin|administrator|developer|creator|owner|operator)\b|\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|alert) the user\b/i,
    'meta_injection',
    'prompt_injection',
  ),
];

const PAYLOADS: readonly Check[] = [
  check(
    /data:(?:text\/html|(?:text|application)\/(?:x-)?(?:java|ecma)script|image\/svg\+xml)[;,][^\s]{0,64}(?:base64,PHNj|%3Cscript|<script|base64,[A-Za-z0-9+/]{24})/i,
    'script_data_uri',
  ),
  check(/(?:\\x[0-9a-f]{2}){10}/i, 'hex_shellcode'),
  check(
    /\b(?:eval|exec|base64 (?:-d|--decode|-D)|b64decode|atob|FromBase64String|-enc(?:odedcommand)?)\b[^\n]{0,80}?[A-Za-z0-9+/]{200}/i,
    'encoded_payload',
  ),
  check(
    /(?<=[A-Za-z0-9+/]{200}={0,2}[^\n|]{0,40})\|\s{0,4}(?:base64|openssl)[^\n|]{0,40}\|\s{0,4}(?:ba|z|da)?sh\b/i,
    'encoded_payload',
  ),
];

const ADDRESSES: readonly Check[] = [
  check(
    /\bhttps?:\/\/[^\s"'<>?]{1,512}\?(?:[^\s"'<>]{0,512}&)?(?:api_?key|access_?token|auth_?token|token|secret|client_secret|password|passwd|sig|signature|x-amz-signature)=(?![$<{*%[]|(?:your|xxx|example|token|secret|\.\.\.))[^\s"'<>&]{8}/i,
    'url_credential_param',
  ),
  check(
    /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\b100\.100\.100\.200\b|\[?fd00:ec2::254\b/i,
    'cloud_metadata_access',
  ),
  check(
    /(?<=!\[[^\][\n]{0,200})\]\(https?:\/\/[^\s)]{1,512}[?&/](?:[\w.-]{1,32}=)?(?:\{|%7B|\$|<|\[|DATA\b|SECRET|[A-Za-z0-9+/_-]{48})/i,
    'markdown_exfiltration',
  ),
];

const DISCLOSURES: readonly Check[] = [
  check(
    /(?<![\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?!\d|\.\d)/,
    'private_ip_disclosure',
  ),
  check(
    /\barn:aws[\w-]{0,10}:[\w-]{1,32}:[\w-]{0,20}:\d{12}:|\.iam\.gserviceaccount\.com\b|\/subscriptions\/[0-9a-f]{8}-[0-9a-f]{4}-/i,
    'cloud_identity_disclosure',
  ),
  check(
    /\/etc\/(?:shadow|gshadow|sudoers)\b|(?:~|\/(?:home\/[\w.-]{1,32}|root|Users\/[\w.-]{1,32}))\/\.(?:ssh\/(?:id_\w{1,16}|authorized_keys)|aws\/credentials|netrc|pgpass|kube\/config|docker\/config\.json|gnupg\/)/,
    'sensitive_path_disclosure',
  ),
];

/** In the order in which they are made; credentials are found by the redactor. */
const CHECKS: readonly (readonly Check[])[] = [INJECTION, PAYLOADS, ADDRESSES, DISCLOSURES];

/** What a text contains besides secrets. `isLate` ends the search early. */
export function findFlags(text: string, isLate: () => boolean): Set<OutputFlag> {
  const found = new Set<OutputFlag>();
  for (const { pattern, flags } of CHECKS.flat()) {
    if (isLate()) return found.add('guard_failed');
    const isKnown = flags.every((flag) => found.has(flag));
    if (!isKnown && pattern.test(text)) for (const flag of flags) found.add(flag);
  }
  return found;
}
