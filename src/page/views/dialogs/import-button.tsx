import type { Desk } from '../../state/app.ts';

interface ImportButtonProps {
  desk: Desk;
  onDone(): void;
  onProblem(error: unknown): void;
}

/** Opens a file chooser, and shows the imported conversation. */
export function ImportButton({ desk, onDone, onProblem }: ImportButtonProps) {
  const open = async (file: File | undefined) => {
    if (!file) return;
    try {
      const { ws_id } = await desk.files.importConversation(file);
      await desk.workstreams.show(ws_id);
      onDone();
    } catch (error) {
      onProblem(error);
    }
  };
  return (
    <label class="import quiet">
      Import a conversation…
      <input
        type="file"
        accept=".json,application/json"
        onChange={({ currentTarget }) => {
          void open(currentTarget.files?.[0]);
          currentTarget.value = ''; // so that the same file can be chosen again
        }}
      />
    </label>
  );
}
