import type { Refusal } from './refusal.ts';

/** Reads why an upstream refused a request. Undefined when its words are not known. */
export function readRefusal(text: string): Refusal | undefined {
  if (WINDOW.test(text)) return { about: 'window', ...readNumbers(text) };
  if (BINDING.test(text)) return { about: 'binding' };
  if (SCHEMA.test(text)) return { about: 'schema' };
  return IMAGE.test(text) ? { about: 'image' } : undefined;
}

/** How OpenAI, Anthropic, Google, Mistral, llama.cpp, vLLM, Ollama, LM Studio, OpenRouter and others say it. */
const WINDOW = new RegExp(
  [
    'context_length_exceeded',
    'exceed_context_size',
    'model_context_window_exceeded',
    'maximum (context|prompt|model) length',
    'prompt (is )?too long',
    'prompt exceeds',
    'input (is too long|length and `?max_tokens`? exceed)',
    'input token count',
    'exceeds? the (input length|context|available context|model.s context|maximum number of tokens|limit of \\d+ tokens)',
    '(exceeds?|greater than|longer than) the (model.s )?(maximum )?context (length|size|window)',
    'exceeded model token limit',
    'context (length|size|window)[^.]{0,40}(exceed|overflow|only)',
    'too many (input )?tokens',
    'too large for model with \\d+',
    'reduce the length of (the|your) (messages|prompt|input)',
    'max_new_tokens` must be',
  ].join('|'),
  'i',
);

/** Where the texts name the window, then the size of the request. The first match counts. */
const NUMBERS: readonly { maximum: RegExp; asked?: RegExp }[] = [
  { maximum: /tokens\s*>\s*(\d+)/i, asked: /(\d{1,12}) tokens\s{0,9}>/i },
  { maximum: /exceeds? context limit:[^>]{0,200}>\s{0,9}(\d+)/i, asked: /context limit:\s*(\d+)/i },
  { maximum: /"n_ctx"\s*:\s*(\d+)/, asked: /"n_prompt_tokens"\s*:\s*(\d+)/ },
  { maximum: /available context size \((\d+)/i, asked: /request \((\d+) tokens/i },
  { maximum: /tokens allowed \((\d+)/i, asked: /token count \((\d+)/i },
  { maximum: /model with (\d+) maximum context/i, asked: /contains (\d+) tokens/i },
  { maximum: /must be <= (\d+)/i },
  {
    maximum: /(?:context|prompt|model) length (?:is|of)(?: only)? (\d+)/i,
    asked: /(?:resulted in|requested|request has|passed|contains)(?: about| at least)? (\d+)/i,
  },
  { maximum: /limit of (\d+) tokens/i },
];

function readNumbers(text: string): { maximum?: number; asked?: number } {
  const plain = text.replace(/(?<=\d),(?=\d{3})/g, ''); // "8,192"
  for (const { maximum, asked } of NUMBERS) {
    const window = Number(maximum.exec(plain)?.[1] ?? 0);
    if (window === 0 || !Number.isSafeInteger(window)) continue;
    const size = Number(asked?.exec(plain)?.[1] ?? 0);
    return { maximum: window, ...(size > 0 && Number.isSafeInteger(size) && { asked: size }) };
  }
  return {};
}

const BINDING =
  /bound to a different conversation|thinking.{0,40}(cannot be modified|signature)|invalid.{0,20}signature|thought_?signature|encrypted.?content|Expected `thinking`|reasoning_content.{0,60}passed back|reasoning.{0,40}required following item/i;

const SCHEMA =
  /input_schema|invalid schema|function_declarations|function\.parameters|tools?[.[]\d|tool.{0,20}schema|unsupported parameter|unknown parameter|unrecognized (request argument|field)|extra inputs are not permitted/i;

/** Whole words: "provisioned" and "revision" are about something else. */
const IMAGE = /(?<![a-z])(?:images?|vision)(?![a-z])|imageUrl|multi-?modal|media_type|mime ?type|inline_?data|mmproj/i;
