import { OUTPUT_RISKS } from '../../../protocol/events/output-warning.ts';

type RiskLevel = (typeof OUTPUT_RISKS)[number];

/** What the guard found in an output, as data. */
export type OutputFlag =
  | 'prompt_injection'
  | 'role_injection'
  | 'instruction_override'
  | 'meta_injection'
  | 'credential_leak'
  | 'private_key_leak'
  | 'connection_string_leak'
  | 'env_file_leak'
  | 'script_data_uri'
  | 'hex_shellcode'
  | 'encoded_payload'
  | 'url_credential_param'
  | 'cloud_metadata_access'
  | 'markdown_exfiltration'
  | 'private_ip_disclosure'
  | 'cloud_identity_disclosure'
  | 'sensitive_path_disclosure'
  | 'hidden_text'
  | 'terminal_escape'
  | 'guard_failed';

interface FlagMeaning {
  risk: RiskLevel;
  /** For people. */
  words: string;
}

/** In the order in which they are listed. */
const FLAGS: Readonly<Record<OutputFlag, FlagMeaning>> = {
  prompt_injection: { risk: 'high', words: 'Text that tries to give the model instructions.' },
  role_injection: { risk: 'high', words: 'Text that imitates the messages of a conversation.' },
  instruction_override: { risk: 'high', words: 'Text that claims the authority of a system prompt.' },
  meta_injection: { risk: 'high', words: 'Text that wants the model to play another part.' },
  credential_leak: { risk: 'high', words: 'A key, a token or a password.' },
  private_key_leak: { risk: 'high', words: 'A private key.' },
  connection_string_leak: { risk: 'high', words: 'An address with a password.' },
  env_file_leak: { risk: 'high', words: 'Secret environment variables.' },
  script_data_uri: { risk: 'medium', words: 'A data address that contains a script.' },
  hex_shellcode: { risk: 'medium', words: 'A sequence of bytes that looks like machine code.' },
  encoded_payload: { risk: 'medium', words: 'Encoded data next to a command that runs it.' },
  url_credential_param: { risk: 'medium', words: 'A web address with a credential among its parameters.' },
  cloud_metadata_access: { risk: 'medium', words: "The address of a cloud's metadata service." },
  markdown_exfiltration: { risk: 'medium', words: 'An image or a link whose address could carry data away.' },
  hidden_text: { risk: 'medium', words: 'Characters that people do not see; they are written out.' },
  private_ip_disclosure: { risk: 'low', words: 'A private network address.' },
  cloud_identity_disclosure: { risk: 'low', words: 'The identity of a cloud account.' },
  sensitive_path_disclosure: { risk: 'low', words: 'The path of a file that holds secrets.' },
  terminal_escape: { risk: 'low', words: 'Sequences that control a terminal; they are written out.' },
  guard_failed: { risk: 'medium', words: 'The output could not be checked completely.' },
};

/** What is reported about an output. */
export interface Assessment {
  flags: OutputFlag[];
  risk: RiskLevel;
  /** One sentence for each flag, for people. */
  annotations: string[];
  /** Characters of the output. */
  length: number;
  /** Whether a part of it was replaced by a tag. */
  isRedacted: boolean;
}

/** Undefined when there is nothing to report. */
export function toAssessment(
  found: ReadonlySet<OutputFlag>,
  { length, isRedacted }: Pick<Assessment, 'length' | 'isRedacted'>,
): Assessment | undefined {
  const listed = Object.entries(FLAGS).filter(([flag]) => (found as ReadonlySet<string>).has(flag));
  if (listed.length === 0) return undefined;
  const highest = Math.max(...listed.map(([, { risk }]) => OUTPUT_RISKS.indexOf(risk)));
  return {
    flags: [...found].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
    risk: OUTPUT_RISKS[highest] ?? 'low',
    annotations: listed.map(([, { words }]) => words),
    length,
    isRedacted,
  };
}

const ORDER: readonly string[] = Object.keys(FLAGS);
