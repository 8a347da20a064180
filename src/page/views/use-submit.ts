import { useSignal } from '@preact/signals';

/**
 * Submits a form once at a time. `run` returns an error message, or undefined on success; the message is the `problem`
 * until the next attempt.
 */
export function useSubmit(run: (form: HTMLFormElement) => Promise<string | undefined>) {
  const busy = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const submit = async (form: HTMLFormElement) => {
    if (busy.peek()) return;
    problem.value = undefined; // a screen reader then announces the next problem even if it is the same
    busy.value = true;
    try {
      problem.value = await run(form);
    } finally {
      busy.value = false;
    }
  };
  const onSubmit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    void submit(event.currentTarget);
  };
  return { busy, problem, onSubmit };
}
