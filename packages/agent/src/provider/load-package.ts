// Loading a package the user may not have installed.

/** Runs what imports the package; when it is not there, says which one to install. */
export async function loadPackage<Result>(
  packageName: string,
  load: () => Promise<Result>,
): Promise<Result> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, packageName)) throw error;
    throw new Error(
      `The package ${packageName} is not installed. Install it beside Soong: npm install ${packageName}`,
      { cause: error },
    );
  }
}

/** A package that is there but lacks one of its own is another matter. */
function isMissing(error: unknown, packageName: string): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    code === "ERR_MODULE_NOT_FOUND" &&
    typeof message === "string" &&
    message.includes(`'${packageName}'`)
  );
}
