"""What everything else is made of: immutable, columnar, without input or output."""
