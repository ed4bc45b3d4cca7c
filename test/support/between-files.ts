type Work = () => void | Promise<void>;

let atEnd: Work[] = [];

/** Is called once when the test file that runs now has ended: what it changed in this process must not reach the next file. */
export function atEndOfFile(work: Work): void {
  atEnd.push(work);
}

/** Undoes what the file that ends now has changed, the latest change first. */
export async function endFile(): Promise<void> {
  const works = atEnd.reverse();
  atEnd = [];
  for (const work of works) await work();
}

const atExit: (() => Promise<unknown>)[] = [];

/** Is called when this worker has run its last test file. */
export function atEndOfWorker(work: () => Promise<unknown>): void {
  atExit.push(work);
}

/** Ends what the files of this worker shared. */
export async function endWorker(): Promise<void> {
  await Promise.all(atExit.map((work) => work()));
}

/** Returns every line that a service has written so far. */
type Log = () => string[];

const logs = new Set<Log>();
/** As many lines of each service as help to understand a failure. */
const LINES = 40;

/** A failing test shows what this service wrote while it ran, until the returned function is called. */
export function showInFailures(log: Log): () => void {
  logs.add(log);
  return () => void logs.delete(log);
}

/** What all services write from now on, or undefined if they write nothing. */
export function logFromNow(): () => string | undefined {
  const before = new Map([...logs].map((log) => [log, log().length]));
  return () => {
    const lines = [...logs].flatMap((log) =>
      log()
        .slice(before.get(log) ?? 0)
        .slice(-LINES),
    );
    return lines.length > 0 ? lines.map((line) => `    ${line.trimEnd()}`).join('\n') : undefined;
  };
}
