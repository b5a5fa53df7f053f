"""The log window: lines of the ring as they come, filtered, searched, copied. It writes nothing into the log."""
