# Statements that belong to a block.
@define level "error"
$LEVEL = "`level`";
$C == "no end"