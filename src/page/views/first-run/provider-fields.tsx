import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { KEY_PROVIDERS, type KeepModel } from '../../state/first-run/model-setup.ts';

interface ProviderProps {
  busy: Signal<boolean>;
  keep: KeepModel;
  /** The names of the models that can be chosen. */
  added: readonly string[];
  remove(alias: string): void;
}

/** A provider and its key, or the address of another server. */
export function ProviderFields({ busy, keep, added, remove }: ProviderProps) {
  const provider = useSignal<(typeof KEY_PROVIDERS)[number]['id']>('anthropic');
  const [baseUrl, model, apiKey] = [useSignal(''), useSignal(''), useSignal('')];
  const isOther = provider.value === 'openai-compatible';
  const isComplete = isOther ? baseUrl.value !== '' && model.value !== '' : apiKey.value !== '';
  const submit = async () => {
    if (busy.value || !isComplete) return;
    const key = apiKey.value === '' ? {} : { apiKey: apiKey.value };
    apiKey.value = ''; // it is nowhere on the page any more
    await keep({ provider: provider.value, ...key, ...(isOther && { baseUrl: baseUrl.value, model: model.value }) });
  };
  const enter = () => void submit();
  return (
    <div class="provider-fields">
      <label>
        Provider
        <select
          value={provider.value}
          onChange={({ currentTarget: { value } }) => {
            provider.value = KEY_PROVIDERS.find(({ id }) => id === value)?.id ?? 'anthropic';
          }}
        >
          {KEY_PROVIDERS.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {isOther && <Field label="Address" value={baseUrl} placeholder="https://llm.example.com/v1" onEnter={enter} />}
      {isOther && <Field label="Model" value={model} placeholder="its name on the server" onEnter={enter} />}
      <Field label={isOther ? 'Key, if it needs one' : 'Key'} value={apiKey} isSecret onEnter={enter} />
      <p class="hint">
        The key is stored in config.json of the daemon, which only its user can read, and is never shown again.
      </p>
      <p>
        <button type="button" disabled={busy.value || !isComplete} onClick={() => void submit()}>
          Test and add
        </button>{' '}
        {!isOther && added.includes(provider.value) && (
          <button type="button" disabled={busy.value} onClick={() => remove(provider.value)}>
            {`Remove ${provider.value} and its key`}
          </button>
        )}
      </p>
    </div>
  );
}

interface FieldProps {
  label: string;
  value: Signal<string>;
  isSecret?: boolean;
  placeholder?: string;
  onEnter(): void;
}

/** The daemon says what is too long. */
const MAX_CHARS = 4_096;

function Field({ label, value, isSecret = false, placeholder, onEnter }: FieldProps) {
  const id = useId();
  const props = {
    autocomplete: 'off',
    spellcheck: false,
    maxLength: MAX_CHARS,
    placeholder,
    value: value.value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      value.value = currentTarget.value.trim();
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter') return;
      event.preventDefault(); // it would start the first task, in whose form this stands
      onEnter();
    },
  };
  return (
    <label htmlFor={id}>
      {label}
      {isSecret ? <input id={id} type="password" {...props} /> : <input id={id} type="text" {...props} />}
    </label>
  );
}
